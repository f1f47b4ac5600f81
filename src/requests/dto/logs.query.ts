import { Option } from '../../http/input/option.js';
import { flagText } from '../../tools/rules.js';

export class LogsQuery {
  @Option(
    flagText,
    '`1` or `true` adds the log to a status and to the events of a stream. A response is then wrapped in an ' +
      'object with its log and metrics.',
    undefined,
    { default: '0' },
  )
  logs = false;
}

import { LimitOption } from '../../http/input/page.js';
import { ListQuery } from '../../requests/dto/list.query.js';

const perPage = 100;

/** The options of the service's own list. A page has as many predictions as Replicate's. */
export class PredictionsQuery extends ListQuery {
  @LimitOption(perPage, perPage) override limit = perPage;
}

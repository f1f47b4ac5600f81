import { spawnSync } from 'node:child_process';
import { externalMemoryFlag, hasExternalMemoryFlag } from './gc-flags.js';

it('V8 knows the flag from the version on that is said to have it', () => {
  const { stderr, status } = spawnSync(process.execPath, [externalMemoryFlag, '--eval', ''], {
    encoding: 'utf8',
  });
  expect({ known: status === 0, stderr }).toEqual({
    known: hasExternalMemoryFlag,
    stderr: hasExternalMemoryFlag ? '' : (expect.stringContaining('bad option') as string),
  });
});

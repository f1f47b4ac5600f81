import { spawnSync } from 'node:child_process';
import { externalMemoryFlag, hasExternalMemoryFlag } from './gc-flags.js';

it('the version check agrees with V8 about support for the flag', () => {
  const { stderr, status } = spawnSync(process.execPath, [externalMemoryFlag, '--eval', ''], {
    encoding: 'utf8',
  });
  expect({ known: status === 0, stderr }).toEqual({
    known: hasExternalMemoryFlag,
    stderr: hasExternalMemoryFlag ? '' : (expect.stringContaining('bad option') as string),
  });
});

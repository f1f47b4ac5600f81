import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { advice, type ProblemCode, problemCodes, type Retry } from '../../errors/problem-codes.js';
import { pageBar, pageHead } from './docs-page.js';
import { docsAssets } from './package-root.js';

const tryAgain: Readonly<Record<Retry, string>> = {
  now: 'Yes, at once',
  later: 'Yes, after <code>Retry-After</code>',
  changed: 'After changing the request',
  resubmit: 'As a new submission',
  no: 'No',
};

const style = ['page.css', 'errors.css']
  .map((name) => readFileSync(new URL(name, docsAssets), 'utf8'))
  .join('');

/** Lets the page carry its own style under a policy that allows no other. */
export const errorStyleSource = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

/** The page that every problem's `type` points into, with an anchor per code. It needs no other file. */
export function errorReference(root: string): string {
  const kinds = Object.entries(problemCodes).sort(([, one], [, other]) => one.status - other.status);
  const rows = kinds.map(([code, { status, title, retry }]) => {
    const link = `<a href="#${code}"><code>${code}</code></a>`;
    const cells = [link, status, escape(title), tryAgain[retry], escape(advice[code as ProblemCode])];
    return `<tr id="${code}">${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  return `${pageHead('Now Serving: errors')}
<style>${style}</style>
${pageBar(root, 'errors')}
<main>
<h1>Errors</h1>
<p>Every error is <code>application/problem+json</code> (RFC 9457). Decide by its <code>code</code>, which is stable, and
ignore the wording of its <code>detail</code>. A model's own 4xx keeps its status and has the code
<code>model_error</code>. <code>rate_limited</code> is 429 if the operator has chosen that.</p>
<p>If an answer has <code>Retry-After</code>, wait that many seconds. Otherwise wait 1, 2, 4… seconds between tries, up to
a minute, with jitter. With an <code>Idempotency-Key</code>, a submission that is sent twice is queued once.</p>
<table>
<thead><tr><th>Code</th><th>Status</th><th>Meaning</th><th>Try again?</th><th>What to do</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
</main>
</html>
`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

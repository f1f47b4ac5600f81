import { problemCodes } from '../../errors/problem-codes.js';

/** The page that every problem's `type` points into: one anchor a code. */
export function errorReference(): string {
  const rows = Object.entries(problemCodes).map(
    ([code, { status, title }]) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${status}</td><td>${escape(title)}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Now Serving: errors</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; padding: 0.3rem 1rem 0.3rem 0; border-bottom: 1px solid #ddd; }
  tr:target { background: #fff3bf; }
</style>
<h1>Errors</h1>
<p>Every error is <code>application/problem+json</code>. Decide by <code>code</code>; it is stable. A model's own 4xx
keeps its status, with the code <code>model_error</code>.</p>
<table>
<thead><tr><th>code</th><th>status</th><th>meaning</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
<p><a href="/docs">The API</a></p>
</html>
`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">';

/** The number display over a counter, which the bar draws too. */
const icon =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>" +
  "<rect width='32' height='32' rx='6' fill='%231a1d23'/><text x='16' y='22' text-anchor='middle' " +
  "font-family='monospace' font-size='18' font-weight='700' fill='%23ff9a4d'>42</text></svg>";

export function pageHead(title: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
${viewport}
<title>${title}</title>
<link rel="icon" href="${icon}">`;
}

/** The bar on top of both pages. `root`: the path from the page to the root of the service, such as `../`. */
export function pageBar(root: string, current: 'docs' | 'errors'): string {
  const link = (name: string, path: string, text: string): string =>
    `<a href="${root}${path}"${name === current ? ' aria-current="page"' : ''}>${text}</a>`;
  return `<header class="bar">
<a class="brand" href="${root}docs">Now Serving</a>
${link('docs', 'docs', 'API')}
${link('errors', 'docs/errors', 'Errors')}
${link('', 'openapi.json', 'OpenAPI')}
</header>`;
}

/** Swagger UI below a bar and next to a menu of our own; `page.js` fills both from openapi.json. */
export function docsPage(root: string): string {
  return `${pageHead('Now Serving API')}
<link rel="stylesheet" href="${root}docs/page.css">
<link rel="stylesheet" href="${root}docs/theme.css">
<script defer src="${root}docs/swagger-ui-bundle.js"></script>
<script type="module" src="${root}docs/page.js"></script>
${pageBar(root, 'docs')}
<div class="columns">
<nav class="menu" aria-label="On this page"></nav>
<div id="api"><noscript>This page needs JavaScript. The same as data: <a href="${root}openapi.json">openapi.json</a>.</noscript></div>
</div>
</html>
`;
}

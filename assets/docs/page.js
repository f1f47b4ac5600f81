/* The page at /docs: Swagger UI, and a menu made from the same description. */
const root = new URL('..', import.meta.url);
const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
followScheme();
dark.addEventListener('change', followScheme);

const spec = await (await fetch(new URL('openapi.json', root))).json();
simplify(spec);

const page = document.querySelector('#api');
const ui = SwaggerUIBundle({
  spec,
  domNode: page,
  layout: 'BaseLayout',
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  defaultModelExpandDepth: 3,
  displayRequestDuration: true,
  persistAuthorization: true,
  plugins: [scrollBelowBar],
  requestInterceptor: completeKey,
  syntaxHighlight: { theme: 'nord' },
  tryItOutEnabled: true,
  validatorUrl: null,
});

const headings = await whenDrawn('.info h2:not(.title)');
const menu = document.querySelector('.menu');
for (const heading of headings) {
  heading.id = heading.textContent.toLowerCase().replaceAll(/\W+/g, '-');
  menu.append(link(`#${heading.id}`, heading.textContent));
}
for (const { name } of spec.tags ?? []) {
  const calls = operationsOf(name);
  if (calls.length === 0) continue;
  menu.append(link(`#/${name}`, name, 'group'));
  for (const { method, operationId, summary } of calls) {
    const entry = link(`#/${name}/${operationId}`, summary, 'call');
    entry.dataset.method = method;
    menu.append(entry);
  }
}
// Browsers lend the clipboard to secure pages only: https and this machine's own.
if (navigator.clipboard !== undefined) {
  for (const block of page.querySelectorAll('.info pre')) block.append(copyButton(block.textContent));
}

// Swagger UI reads the address of the page only once.
addEventListener('hashchange', () => ui.layoutActions.parseDeepLinkHash(decodeURIComponent(location.hash)));
if (headings.some(({ id }) => location.hash === `#${id}`))
  document.querySelector(location.hash).scrollIntoView();

/** What openapi.json says for programs, said for people. */
function simplify({ components, paths }) {
  // Whatever address the description names, this page calls the one that it came from.
  spec.servers = [{ url: root.href.replace(/\/$/, '') }];
  // The other way to send the same key.
  delete components.securitySchemes.bearer;
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  for (const operation of operations) {
    operation.security = operation.security?.filter((scheme) => !('bearer' in scheme));
    const places = ['path', 'query', 'header'];
    operation.parameters = operation.parameters?.map((part) => resolved(components, part));
    operation.parameters?.sort((one, other) => places.indexOf(one.in) - places.indexOf(other.in));
    // Swagger UI would fill them in, and send them with every try.
    for (const { required, schema } of operation.parameters ?? []) if (!required) delete schema?.example;
    for (const [status, part] of Object.entries(operation.responses)) {
      const response = { ...resolved(components, part) };
      operation.responses[status] = response;
      const common = /^(X-R|RateLimit)/;
      const headers = Object.entries(response.headers ?? {}).filter(([name]) => !common.test(name));
      response.headers = Object.fromEntries(headers);
      if (status < '400') continue;
      const { href } = new URL('docs/errors', root);
      response.description = response.description.replaceAll(/^`(\w+)`/gm, `[\`$1\`](${href}#$1)`);
      delete response.content;
      delete response.headers;
    }
  }
}

/** Returns what a reference to a component names, and everything else as it is. */
function resolved(components, part) {
  if (part.$ref === undefined) return part;
  const [kind, name] = part.$ref.replace('#/components/', '').split('/');
  return components[kind][name];
}

/** Swagger UI's own way of scrolling knows nothing of what sticks to the top. */
function scrollBelowBar() {
  const scrollToElement = () => (element) => element.scrollIntoView();
  return { statePlugins: { layout: { wrapActions: { scrollToElement } } } };
}

/** Gives a key that was entered without its scheme one. */
function completeKey(request) {
  const key = (request.headers.Authorization ?? '').trim();
  if (/^\S+$/.test(key)) request.headers.Authorization = `Key ${key}`;
  return request;
}

function operationsOf(tag) {
  const operations = Object.values(spec.paths).flatMap((path) =>
    Object.entries(path).map(([method, operation]) => ({ ...operation, method })),
  );
  return operations.filter(({ tags }) => tags?.includes(tag));
}

function link(href, text, kind = 'section') {
  const element = document.createElement('a');
  element.href = href;
  element.className = kind;
  element.textContent = text;
  return element;
}

function copyButton(text) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', () => {
    void navigator.clipboard.writeText(text).then(() => (button.textContent = 'Copied'));
  });
  return button;
}

/** The elements, as soon as there are any. */
function whenDrawn(selector) {
  return new Promise((done) => {
    const look = () => {
      const found = [...page.querySelectorAll(selector)];
      if (found.length === 0) return;
      observer.disconnect();
      done(found);
    };
    const observer = new MutationObserver(look);
    observer.observe(page, { childList: true, subtree: true });
    look();
  });
}

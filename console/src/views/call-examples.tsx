import { useState } from 'react';
import { serviceUrl } from '../api/base';
import { CopyButton } from '../parts/copy';

const url = serviceUrl.replace(/\/$/, '');

const examples = {
  curl: (model: string, json: string) =>
    `curl '${url}/v1/queue/${model}' \\\n  -H "Authorization: Key $NOWSERVING_KEY" \\\n  -d '${json.replaceAll("'", `'\\''`)}'`,
  TypeScript: (model: string, json: string) =>
    `import { createClient } from 'nowserving';\n\nconst queue = createClient({ url: '${url}', key: process.env.NOWSERVING_KEY });\nconst { output } = await queue.run('${model}', { input: ${json} });`,
  Python: (model: string, json: string) =>
    `import json, os\nfrom nowserving import Client\n\nclient = Client("${url}", os.environ["NOWSERVING_KEY"])\nresult = client.run("${model}", json.loads(r"""${json}"""))`,
};
type Language = keyof typeof examples;

/** Shows the same call in several languages, with the service's address as the reader sees it. */
export function CallExamples({ model, json }: { model: string; json: string }) {
  const [language, setLanguage] = useState<Language>('curl');
  const text = examples[language](model, json);
  return (
    <div className="stack">
      <div className="tabs" role="group" aria-label="Language">
        {(Object.keys(examples) as Language[]).map((name) => (
          <button key={name} type="button" aria-pressed={name === language} onClick={() => setLanguage(name)}>
            {name}
          </button>
        ))}
        <span className="end">
          <CopyButton text={text} />
        </span>
      </div>
      <pre>{text}</pre>
    </div>
  );
}

import type { OpenAPIObject } from '@nestjs/swagger';
import { problemMediaType } from '../problem.js';
import { operationsOf } from './operations.js';
import type { Operation, Response } from './responses.js';

interface Reference {
  $ref: string;
}

type Kind = 'parameters' | 'responses' | 'headers' | 'examples';

/** A part of an operation that other operations may have too. */
interface Part {
  content: object;
  /** The name that the content gets as a component, and what is appended if another content has that name. */
  name: string;
  suffix: string;
  /** Puts a reference in the place of the content. */
  refer: (reference: Reference) => void;
}

/** Returns what a reference to a component names, and everything else as it is. */
export function resolved<T extends object>(
  document: Pick<OpenAPIObject, 'components'>,
  part: T | Reference,
): T {
  if (!('$ref' in part)) return part;
  const [kind, name] = part.$ref.slice('#/components/'.length).split('/') as [Kind, string];
  return document.components![kind]![name] as T;
}

/**
 * Moves each parameter, answer, header and example that occurs at least twice in the document to the components, and
 * refers to it.
 */
export function sharePartsOf(document: OpenAPIObject): void {
  const operations = operationsOf(document);
  share(document, 'parameters', operations.flatMap(parametersOf));
  share(document, 'responses', operations.flatMap(answersOf));
  // A shared answer occurs once in the document, so its headers and examples are counted once.
  const answers = new Map(
    operations.flatMap((operation) =>
      Object.entries(operation.responses).map(([status, answer]) => [
        resolved(document, answer as Response),
        { status, operation },
      ]),
    ),
  );
  share(
    document,
    'headers',
    [...answers].flatMap(([answer, { operation }]) => headersOf(answer, operation)),
  );
  share(
    document,
    'examples',
    [...answers].flatMap(([answer, { status }]) => examplesOf(answer, status)),
  );
}

function share(document: OpenAPIObject, kind: Kind, parts: readonly Part[]): void {
  const groups = new Map<string, [Part, ...Part[]]>();
  for (const part of parts) {
    const content = JSON.stringify(part.content);
    const group = groups.get(content);
    if (group === undefined) groups.set(content, [part]);
    else group.push(part);
  }
  const shared: Record<string, object> = { ...document.components?.[kind] };
  const repeated = [...groups.values()].filter(({ length }) => length > 1);
  // The content that is used most gets the name without a suffix.
  for (const group of repeated.sort((one, other) => other.length - one.length)) {
    const [{ content, name, suffix }] = group;
    const free = [name, `${name}.${suffix}`].find((one) => !(one in shared));
    if (free === undefined) throw new Error(`two of the shared ${kind} want the name ${name}.${suffix}`);
    shared[free] = content;
    for (const { refer } of group) refer({ $ref: `#/components/${kind}/${free}` });
  }
  const sorted = Object.keys(shared).sort();
  const components = Object.fromEntries(sorted.map((name) => [name, shared[name]]));
  document.components = { ...document.components, [kind]: components };
}

/**
 * The name includes the place, because generators name types after components, and a schema may already have the name
 * without it.
 */
function parametersOf(operation: Operation): Part[] {
  const { parameters = [] } = operation;
  return parameters.flatMap((content, index) =>
    'name' in content
      ? {
          content,
          name: `${content.in}.${content.name}`,
          suffix: nounOf(operation),
          refer: (reference) => (parameters[index] = reference),
        }
      : [],
  );
}

function answersOf(operation: Operation): Part[] {
  const { responses } = operation;
  const answers = Object.entries(responses) as [string, Response][];
  return answers.map(([status, content]) => ({
    content,
    ...(/^[123]/.test(status)
      ? { name: `${nounOf(operation)}Answer`, suffix: status }
      : { name: errorName(content, operation), suffix: nounOf(operation) }),
    refer: (reference) => (responses[status] = reference),
  }));
}

/** Returns a name made of the codes of the error. An error in the form of another API has the name of that API. */
function errorName({ content = {} }: Response, { tags = [] }: Operation): string {
  const codes = Object.keys(content[problemMediaType]?.examples ?? {});
  if (codes.length === 0) return `${tags[0]}Error`;
  const capital = (code: string): string =>
    code.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  return codes.map(capital).join('Or');
}

function headersOf({ headers = {} }: Response, operation: Operation): Part[] {
  return Object.entries(headers).flatMap(([name, content]) =>
    '$ref' in content
      ? []
      : { content, name, suffix: nounOf(operation), refer: (reference) => (headers[name] = reference) },
  );
}

function examplesOf({ content: bodies = {} }: Response, status: string): Part[] {
  return Object.values(bodies).flatMap(({ examples = {} }) =>
    Object.entries(examples).map(([name, content]) => ({
      content,
      name,
      suffix: status,
      refer: (reference) => (examples[name] = reference),
    })),
  );
}

/** Returns the id of the operation without its verb. */
function nounOf({ operationId = '' }: Operation): string {
  return operationId.replace(/^[a-z]+/, '');
}

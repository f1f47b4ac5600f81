/**
 * Returns the changelog with all that is under Unreleased in the section of a version, whose day is `day`. Entries are
 * added to its parts (Added, Changed, …), what precedes them to its introduction, and a section that is not there is made.
 */
export function released(text, version, day) {
  const [head, ...sections] = text.split(/^(?=## )/m);
  const [unreleased, next, ...older] = sections;
  if (!unreleased?.startsWith('## Unreleased\n')) throw new Error('The first section is not Unreleased');
  const hasSection = next?.startsWith(`## ${version} - `) ?? false;
  const section = hasSection ? partsOf(next) : new Map([['', []]]);
  const added = partsOf(unreleased);
  section.set('', [`## ${version} - ${day}`, ...section.get('').slice(1), ...added.get('').slice(1)]);
  for (const [part, lines] of added) {
    if (part !== '') section.set(part, [...(section.get(part) ?? [part, '']), ...lines.slice(2)]);
  }
  const parts = [...section.values()].map((lines) => lines.join('\n'));
  return `${head}## Unreleased\n\n${[parts.join('\n\n'), ...(hasSection ? older : [next, ...older])].join('\n\n')}`
    .replaceAll(/\n{3,}/g, '\n\n')
    .replace(/\n*$/, '\n');
}

/** Returns the lines of each part of a section by its heading. The lines before the first heading are under ''. */
function partsOf(section) {
  const parts = section.trim().split(/\n+(?=### )/);
  return new Map(
    parts.map((text) => [text.startsWith('### ') ? text.split('\n')[0] : '', text.trim().split('\n')]),
  );
}

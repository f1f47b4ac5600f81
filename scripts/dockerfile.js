/**
 * Reads a Dockerfile into stages, each with an ordered list of `{ instruction, rest }` and the earlier stage that it
 * continues, if there is one.
 */
export function parseDockerfile(text) {
  const stages = [];
  for (const line of logicalLines(text)) {
    const [, instruction, rest] = /^(\w+)\s+(.*)$/.exec(line);
    if (instruction === 'FROM') {
      const [, image, name] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(rest);
      stages.push({ image, name: name ?? 'final', base: stageOf(stages, image), steps: [] });
    } else {
      stages.at(-1).steps.push({ instruction, rest });
    }
  }
  return stages;
}

export const stageOf = (stages, name) => stages.find((stage) => stage.name === name);

/** Returns the steps of a stage, after those of the stages that it continues. */
export const allSteps = ({ base, steps }) => [...(base === undefined ? [] : allSteps(base)), ...steps];

/** Returns the settings that the image has: the last of each, and all of ENV. */
export function imageSettings(stage) {
  const steps = allSteps(stage);
  const last = (instruction) => steps.findLast((step) => step.instruction === instruction)?.rest;
  const environment = steps
    .filter(({ instruction }) => instruction === 'ENV')
    .map(({ rest }) => [rest.slice(0, rest.indexOf('=')), rest.slice(rest.indexOf('=') + 1)]);
  return {
    environment: Object.fromEntries(environment),
    command: JSON.parse(last('CMD')),
    healthcheck: JSON.parse(/CMD\s+(\[.*\])$/.exec(last('HEALTHCHECK'))[1]),
    folder: last('WORKDIR'),
    user: last('USER'),
    stopSignal: last('STOPSIGNAL'),
    port: last('EXPOSE'),
  };
}

/** Returns `ignored(path)` by the rules of a .dockerignore: the last line that matches decides. */
export function dockerIgnore(text) {
  const rules = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ keep: line.startsWith('!'), pattern: toRegExp(line.replace(/^!/, '')) }));
  return (path) => {
    const fitting = rules.findLast(({ pattern }) => pattern.test(path));
    return fitting !== undefined && !fitting.keep;
  };
}

function logicalLines(text) {
  return text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
}

function toRegExp(glob) {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*\/|\*|\?/g, (wild) => ({ '**/': '(?:.*/)?', '*': '[^/]*', '?': '[^/]' })[wild]);
  return new RegExp(`^${source}(?:/.*)?$`);
}

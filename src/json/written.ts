import { objectOf, rawElements, rawMembers } from '../tools/json-scanner.js';

// Values of a JSON text as they were written. Parsing and serialising them would change numbers above 2^53.

export type Location = readonly (string | number)[];

/** A place in a JSON text, with those below it that matter. */
interface Place {
  /** The indexes of what is wanted there. */
  readonly wanted: number[];
  readonly below: Map<string | number, Place>;
}

function placesOf(locations: readonly Location[]): Place {
  const root: Place = { wanted: [], below: new Map() };
  for (const [index, location] of locations.entries()) {
    let place = root;
    for (const step of location) {
      const next = place.below.get(step) ?? { wanted: [], below: new Map() };
      place.below.set(step, next);
      place = next;
    }
    place.wanted.push(index);
  }
  return root;
}

const isObjectText = (text: string): boolean => text.trimStart().startsWith('{');

/** Returns the texts of values of a JSON text by their locations. Each of them must exist. */
export function textsAt(text: string, locations: readonly Location[]): string[] {
  const texts = Array.from<string>({ length: locations.length });
  const read = (part: string, { wanted, below }: Place): void => {
    for (const index of wanted) texts[index] = part;
    if (below.size === 0) return;
    const parts = isObjectText(part) ? rawMembers(part, (name) => below.has(name)) : rawElements(part);
    for (const [step, place] of below)
      read(Array.isArray(parts) ? parts[step as number]! : parts.get(step as string)!, place);
  };
  read(text, placesOf(locations));
  return texts;
}

/**
 * Puts texts in the places of values of a JSON text. An object gets the text as its member `url` and keeps the others.
 * A member `b64_json` is renamed to `url`, as OpenAI's API names it. All other values stay as they were written.
 */
export function withTexts(
  text: string,
  changes: readonly { readonly location: Location; readonly text: string }[],
): string {
  const changed = (part: string, { wanted, below }: Place): string => {
    let whole = part;
    if (below.size > 0 && !isObjectText(part)) {
      const elements = rawElements(part);
      for (const [step, place] of below) elements[step as number] = changed(elements[step as number]!, place);
      whole = `[${elements.join(',')}]`;
    } else if (below.size > 0) {
      const members = rawMembers(part);
      for (const [step, place] of below) {
        const name = step as string;
        const before = members.get(name)!;
        const after = changed(before, place);
        const isRenamed = name === 'b64_json' && place.wanted.length > 0 && !isObjectText(before);
        if (isRenamed) members.delete(name);
        members.set(isRenamed ? 'url' : name, after);
      }
      whole = objectOf(members);
    }
    const [index] = wanted;
    if (index === undefined) return whole;
    const json = JSON.stringify(changes[index]!.text);
    return isObjectText(whole) ? objectOf(rawMembers(whole).set('url', json)) : json;
  };
  return changed(text, placesOf(changes.map(({ location }) => location)));
}

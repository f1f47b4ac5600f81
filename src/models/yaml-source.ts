import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import type { Document, Node } from 'yaml';

const quoteIt = new Set(['BAD_ALIAS', 'TAG_RESOLVE_FAILED']);

/** Removes what the parser quotes of the file, which may be a secret. The line shows where it is. */
function withoutQuotation(code: string, message: string): string {
  // Its messages about tags quote them anywhere.
  if (code === 'TAG_RESOLVE_FAILED') return 'Unresolved tag';
  return message.replace(/(?<=\S): .*$|(?<= (?:escape sequence|directive|version)) .*$/s, '');
}

/** A YAML text whose nodes know their lines, with the faults found so far. */
export class YamlSource {
  /** The line counts from 1; undefined: the fault is of the file as a whole. */
  readonly faults: { line: number | undefined; message: string }[] = [];
  private readonly lines = new LineCounter();
  private readonly document: Document.Parsed;

  constructor(text: string) {
    this.document = parseDocument(text, { lineCounter: this.lines, prettyErrors: false, stringKeys: true });
    for (const { pos, code, message } of [...this.document.errors, ...this.document.warnings]) {
      const advice = quoteIt.has(code) ? '; quote a text that begins with * or !' : '';
      const line = this.lines.linePos(pos[0]).line;
      this.faults.push({ line, message: withoutQuotation(code, message) + advice });
    }
  }

  /** False: the text is not YAML, and nothing below the root means anything. */
  get isReadable(): boolean {
    return this.document.errors.every(({ code }) => code === 'DUPLICATE_KEY');
  }

  get root(): Node | null {
    return this.resolve(this.document.contents);
  }

  fault(node: Node | null | undefined, message: string): void {
    this.faults.push({ line: this.lineOf(node), message });
  }

  lineOf(node: Node | null | undefined): number | undefined {
    const start = node?.range?.[0];
    return start === undefined ? undefined : this.lines.linePos(start).line;
  }

  /** Returns the node itself, or the one that an alias (`*name`) stands for. */
  resolve(node: unknown): Node | null {
    const target = isAlias(node) ? node.resolve(this.document) : node;
    return (target ?? null) as Node | null;
  }

  value(node: Node): unknown {
    return node.toJS(this.document);
  }

  /** Returns the deepest node that exists on the path of a JSON Pointer: its key in the file. */
  locate(node: Node, pointer: string): Node {
    let place = node;
    let at: Node | null = node;
    for (const part of pointer.split('/').slice(1)) {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
      let step: unknown;
      if (isMap(at)) {
        const pair = at.items.find(({ key }) => isScalar(key) && key.value === name);
        place = (pair?.key as Node | undefined) ?? place;
        step = pair?.value;
      } else if (isSeq(at)) {
        step = at.items[Number(name)];
        place = (step as Node | undefined) ?? place;
      }
      at = this.resolve(step);
    }
    return place;
  }

  /** Returns the first key or value below a node that is exactly this word, otherwise the node. */
  find(node: Node, word: string): Node {
    let found = node;
    visit(node, {
      Scalar(_, scalar) {
        if (scalar.value !== word) return undefined;
        found = scalar;
        return visit.BREAK;
      },
    });
    return found;
  }
}

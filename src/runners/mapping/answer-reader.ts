import type { Files } from '../../files/files.js';
import type { AssemblerKind } from '../../json/assemblers.js';
import type { Results } from '../../json/jobs.js';
import type { JsonThreads } from '../../json/json-threads.js';
import {
  type Asks,
  findIn,
  type Found,
  type FoundFile,
  type FoundOutput,
  type OutputAsk,
} from '../../json/mapped-json.js';
import { type Path, type PlainPath, plainPath } from '../../json/paths.js';
import { maxInlineBytes } from '../../models/input-schemas.js';
import type { Chunks } from '../../outgoing/answer-body.js';
import { type Run, RunFailure } from '../../queue/runs/runner.js';
import { isDeeperThan } from '../../tools/json-scanner.js';
import { parseJson } from '../../tools/storable-text.js';
import { decode, notUtf8 } from '../model-answer.js';
import { keepOutput, type MadeFile, receiveFile, storeFile } from '../file-output.js';
import { inThread } from '../output.js';

/** The time that a path such as `$..*` takes grows with each level. */
const maxInlineDepth = 48;

/** Returns whether JSON is too large, or has too many levels, to be read in the event loop. */
export function isHeavy(json: string): boolean {
  return json.length > maxInlineBytes || isDeeperThan(json, maxInlineDepth);
}

/** The parts of a JSON answer, with the bytes of its output. */
export interface JsonAnswer extends Found {
  readonly bytes: Buffer;
}

/** Fetches a file from the server of a run. */
export type FetchFile = (file: Exclude<FoundFile, { contentType: string }>) => Promise<MadeFile>;

/** Reads the JSON answers of a model's server by the paths of its mapping, large ones in a thread. */
export class AnswerReader {
  constructor(
    private readonly run: Run,
    private readonly files: Files,
    private readonly threads: JsonThreads,
    readonly maxBytes: number,
  ) {}

  /** Returns undefined if the answer is not JSON. */
  async read(bytes: Buffer, asks: Asks): Promise<JsonAnswer | undefined> {
    if (bytes.length > maxInlineBytes) return this.readLarge(bytes, asks);
    const text = decode(bytes);
    if (isHeavy(text)) return this.readLarge(bytes, asks);
    const json = parseJson(text);
    if (json === undefined) return undefined;
    const [found, output] = findIn(json.value, Buffer.from(text), asks);
    return { ...found, bytes: output };
  }

  private async readLarge(bytes: Buffer, asks: Asks): Promise<JsonAnswer | undefined> {
    const [result, output] = await inThread(this.threads, 'mapped', plainAsks(asks), bytes, this.run);
    if ('found' in result) return { ...result.found, bytes: output };
    if (result.fault === 'is not UTF-8') throw new RunFailure(notUtf8);
    return undefined;
  }

  /** Adds chunks in a thread. Returns their sum, or the output that they make. No chunk has a line break. */
  async assembled(
    kind: AssemblerKind,
    chunks: readonly Buffer[],
    output?: OutputAsk<Path>,
  ): Promise<Results['assembled'] & { bytes: Buffer }> {
    const lines = Buffer.concat(chunks.flatMap((chunk, i) => (i === 0 ? [chunk] : [lineBreak, chunk])));
    const job = { kind, output: output && plainOutput(output) };
    const [result, bytes] = await inThread(this.threads, 'assembled', job, lines, this.run);
    return { ...result, bytes };
  }

  /**
   * Stores the files of an output and returns it with their URLs in their places. All are fetched before the first is
   * stored: the run's timeout holds for the model's work, and a file may wait for storage for any time.
   */
  async whole(
    { lengths, files }: FoundOutput,
    bytes: Buffer,
    fetchFile?: FetchFile,
  ): Promise<string | Buffer> {
    const fetched = new Map<FoundFile, MadeFile>();
    const pieces: Buffer[] = [];
    let from = 0;
    try {
      let made: MadeFile | undefined;
      for (const file of files) {
        if ('contentType' in file) continue;
        // Closes the last file before the next one is opened. If the disk refuses it, storing it tries again.
        await made?.part.settle().catch(() => undefined);
        made = await fetchFile!(file);
        fetched.set(file, made);
      }
      this.run.made();
      for (const [i, length] of lengths.entries()) {
        const piece = bytes.subarray(from, from + length);
        from += length;
        if (i % 2 === 0) pieces.push(piece);
        else {
          const url = await this.urlOf(files[(i - 1) / 2]!, piece, fetched);
          pieces.push(Buffer.from(JSON.stringify(url).slice(1, -1)));
        }
      }
    } finally {
      for (const { part } of fetched.values()) await part.discard();
    }
    const json = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    return json.length > maxInlineBytes ? json : json.toString();
  }

  /** Stores a whole answer as a file. */
  keep(chunks: Chunks, contentType: string): ReturnType<typeof keepOutput> {
    return keepOutput(this.files, this.run, chunks, contentType);
  }

  /** Receives a file of an output. */
  receive(chunks: Chunks | readonly Buffer[], contentType: string): Promise<MadeFile> {
    return receiveFile(this.files, this.run, chunks, contentType);
  }

  /** Returns the URL of a file, once it is stored. `fetched`: those that wait for it. `bytes`: of one that is embedded. */
  private async urlOf(file: FoundFile, bytes: Buffer, fetched: Map<FoundFile, MadeFile>): Promise<string> {
    const made = 'contentType' in file ? await this.receive([bytes], file.contentType) : fetched.get(file)!;
    fetched.delete(file);
    return (await storeFile(this.files, this.run, made)).url;
  }
}

const lineBreak = Buffer.from('\n');

function plainAsks({ values, quotes, output, outputWith }: Asks): Asks<PlainPath> {
  return {
    values: Object.fromEntries(Object.entries(values).map(([name, paths]) => [name, paths.map(plainPath)])),
    ...(quotes && { quotes: quotes.map(plainPath) }),
    output: output && plainOutput(output),
    outputWith,
  };
}

function plainOutput({ paths, files, address }: OutputAsk<Path>): OutputAsk<PlainPath> {
  return {
    paths: paths.map(plainPath),
    files: files.map(({ path, quotes, ...file }) => ({
      ...file,
      path: plainPath(path),
      quotes: quotes?.map(plainPath),
    })),
    address,
  };
}

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { idTimeMs } from '../../src/database/days.js';
import { overlaps } from '../clock.js';
import type { Cluster } from '../cluster/cluster.js';
import type { FaultRecord } from '../faults/fault.js';
import type { Ledger } from '../load/ledger.js';
import { nonceOf, sha256 } from '../model/made.js';
import type { FileMade, RunLog } from '../model/run-log.js';
import type { Random } from '../random.js';
import type { WorkLog } from '../workers/work-log.js';
import { isDropped, type RequestRow, type StoredState } from './stored-state.js';

interface FileRow {
  id: string;
  name: string;
  state: string;
  upload: number | null;
  size: string | null;
  sha256: string | null;
}

/** Files that are fetched at once. */
const atOnce = 8;
/** A node gives up an upload that receives nothing for a minute, unless the node is killed before. */
const stallMs = 65_000;

/** A file that no request has named is removed a day after it was initiated. */
const unnamedMs = 24 * 3_600_000;

/** True: the file of a run was removed in time, with its request, or because its run was lost and nothing names it. */
function isRemoved(requestId: string, url: string, stored: StoredState): boolean {
  if (isDropped(requestId, stored)) return true;
  const output = stored.requests.get(requestId)?.output as { drawing?: string } | null | undefined;
  return output?.drawing !== url && stored.nowMs - idTimeMs(requestId) > unnamedMs;
}

/** Checks that a file is there as it was made, on every node, or not at all. */
export class FileCheck {
  private readonly files = new Map<string, FileRow>();

  constructor(
    private readonly cluster: Cluster,
    private readonly random: Random,
    private readonly faultsOfService: readonly FaultRecord[],
    private readonly ledger: Ledger,
  ) {}

  async run(stored: StoredState, runs: RunLog, work: WorkLog): Promise<void> {
    const rows = await this.cluster.postgres.query<FileRow>(
      `SELECT id, name, state, upload, size, encode(sha256, 'hex') AS sha256 FROM file`,
    );
    for (const row of rows) this.files.set(row.id, row);
    for (const row of stored.requests.values()) this.checkOutput(row, runs, work);
    for (const { file, requestId } of work.runs) {
      if (file !== undefined && !isRemoved(requestId, file.url, stored))
        this.checkMade(file.url, file, requestId);
    }
    const left = [...rows];
    const fetchSome = async (): Promise<void> => {
      for (let row = left.pop(); row !== undefined; row = left.pop()) await this.checkBytes(row);
    };
    await Promise.all(Array.from({ length: atOnce }, fetchSome));
    this.checkDisk();
    const isStored = ({ state }: FileRow): boolean => state === 'stored';
    this.ledger.count('files stored', rows.filter(isStored).length);
    this.ledger.count('uploads that came to nothing', rows.filter((row) => !isStored(row)).length);
  }

  /** An output names the file that its run made. */
  private checkOutput({ id, modelId, outcome, output }: RequestRow, runs: RunLog, work: WorkLog): void {
    if (outcome !== 'succeeded') return;
    if (modelId === 'chaos/picture') {
      const { file } = output as { file?: FileMade & { url: string; content_type: string } };
      const made = runs.ofRequest(id).at(-1)?.file;
      const isSound = file?.size === made?.size && file?.sha256 === made?.sha256;
      if (!isSound || file?.content_type !== 'application/octet-stream') {
        this.fail('an answer that is a file is kept as it is', JSON.stringify({ output, made }), id);
      } else this.checkMade(file.url, file, id);
    }
    if (modelId === 'chaos/drawing') {
      const made = work.ofNonce(nonceOf(output))?.file;
      if (made !== undefined && made.url === (output as { drawing?: string }).drawing) return;
      this.fail('an output names the file that its run uploaded', JSON.stringify({ output, made }), id);
    }
  }

  /** A file that a run reported as made is there. */
  private checkMade(url: string, { size, sha256: hash }: FileMade, requestId: string): void {
    const row = this.files.get(idOf(url));
    if (row?.state === 'stored' && Number(row.size) === size && row.sha256 === hash) return;
    this.fail(
      'a file that was uploaded is stored whole',
      JSON.stringify({ url, size, hash, row }),
      requestId,
    );
  }

  /** Any node returns all bytes of a file, or none. */
  private async checkBytes(row: FileRow): Promise<void> {
    const node = this.random.pick(this.cluster.apiNodes);
    const { headers } = this.random.pick(this.cluster.callers.auditors);
    const url = `${node.url}/v1/files/${row.id}/${encodeURIComponent(row.name)}`;
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(20_000) });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isThere = row.state === 'stored';
    const sound = isThere
      ? response.status === 200 && bytes.length === Number(row.size) && sha256(bytes) === row.sha256
      : response.status === 404 || response.status === 410;
    if (sound) return;
    const detail = `${node.name}: ${response.status}, ${bytes.length} bytes of ${JSON.stringify(row)}`;
    this.fail('a file is given whole or not at all', detail);
  }

  /**
   * An aborted upload leaves nothing on the disk. Exception: a fault kept a node from cleaning up or from noticing;
   * those bytes are deleted later.
   */
  private checkDisk(): void {
    const folder = join(this.cluster.dataDirectory, 'files');
    const kept = new Set(
      [...this.files.values()]
        .filter(({ state }) => state === 'stored')
        .map(({ id, upload }) => `${id}-${upload}`),
    );
    const left = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'place' && !kept.has(entry.name))
      .map(({ parentPath, name }) => join(parentPath, name));
    this.ledger.count('bytes that faults left on the disk', left.length);
    for (const path of left) {
      const at = statSync(path).mtimeMs - performance.timeOrigin;
      const isAfter = ({ from, healedAt }: FaultRecord): boolean =>
        overlaps({ from, to: healedAt }, at - 1_000, at + stallMs);
      if (this.faultsOfService.some(isAfter)) continue;
      this.fail('an upload that breaks off leaves nothing on the disk', path.slice(folder.length));
    }
  }

  private fail(rule: string, detail: string, requestId?: string): void {
    this.ledger.violate(rule, detail, requestId);
  }
}

function idOf(url: string): string {
  return new URL(url).pathname.split('/')[3] ?? '';
}

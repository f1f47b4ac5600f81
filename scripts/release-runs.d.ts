export interface RecordedRun {
  file: string;
  commit: string;
  tree: string | undefined;
  faults: number;
}

export interface WantedRun {
  name: string;
  command: string;
  needed: number;
  amount: number;
  results: RecordedRun[];
  latest: RecordedRun | undefined;
}

export const page: string;
export function runsOf(tree: string): WantedRun[];
export function readList(): { tree: string | undefined; causes: string };
export function withList(tree: string): string;
export function unexplained(tree: string): string[];

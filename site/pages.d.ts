export interface Page {
  file: string;
  path: string;
  title: string;
}

export interface Group {
  title: string;
  pages: (Page & { subpages: Page[] })[];
}

export function groups(): Group[];
export function pages(): Page[];
export function brokenLinks(): string[];
export function anchorOf(heading: string): string;
export function stage(folder: string): void;
export function overview(): string;
export function writeForPrograms(staged: string, folder: string): void;

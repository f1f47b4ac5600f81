export const temporaryPrefix: string;
export function temporaryRoot(): string;
export function stopServerNow(directory: string): void;
export function stopAbandonedServers(): void;
export function removeDirectories(directories: string[]): void;
export function isAlive(pid: number): boolean;

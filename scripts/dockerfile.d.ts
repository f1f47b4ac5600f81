export interface Stage {
  image: string;
  name: string;
  base: Stage | undefined;
  steps: { instruction: string; rest: string }[];
}

export interface ImageSettings {
  environment: Record<string, string>;
  command: string[];
  healthcheck: string[];
  folder: string | undefined;
  user: string | undefined;
  stopSignal: string | undefined;
  port: string | undefined;
}

export function parseDockerfile(text: string): Stage[];
export function stageOf(stages: readonly Stage[], name: string): Stage | undefined;
export function allSteps(stage: Stage): Stage['steps'];
export function imageSettings(stage: Stage): ImageSettings;
export function dockerIgnore(text: string): (path: string) => boolean;

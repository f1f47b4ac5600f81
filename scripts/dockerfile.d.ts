export interface Stage {
  image: string;
  name: string;
  steps: { instruction: string; rest: string }[];
}

export interface ImageSettings {
  environment: Record<string, string>;
  command: string[];
  healthcheck: string[];
  user: string | undefined;
  stopSignal: string | undefined;
  port: string | undefined;
}

export function parseDockerfile(text: string): Stage[];
export function imageSettings(stage: Stage): ImageSettings;
export function dockerIgnore(text: string): (path: string) => boolean;

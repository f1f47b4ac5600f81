import type { Call } from '../model-server.js';
import { png } from './openai.js';

interface Job {
  id: string;
  status: 'pending' | 'in_progress' | 'completed' | 'failed';
  text: string;
}

interface Body {
  prompt?: Record<string, { text: string }>;
  prompt_id: string;
  delete: string[];
}

/**
 * ComfyUI, after https://docs.comfy.org/development/comfyui-server/comms_routes and
 * https://github.com/comfyanonymous/ComfyUI/blob/master/comfy_execution/jobs.py. It runs one prompt after the other,
 * takes the caller's prompt_id without asking whether it has it already, forgets everything on a restart, and tells no
 * progress but the status. A prompt says itself when it ends: its text is `hold`, `fail`, or anything else.
 */
export class ComfyUi {
  readonly jobs: Job[] = [];
  readonly interrupted: string[] = [];
  readonly deleted: string[] = [];

  readonly respond = ({ method, url, body, response }: Call): void => {
    const answer = (status: number, value?: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
      response.end(value === undefined ? '' : JSON.stringify(value));
    };
    const { pathname, searchParams } = new URL(url, 'http://comfy');
    const json = (): Body => JSON.parse(body) as Body;
    switch (`${method} ${pathname.replace(/^\/comfy/, '').replace(/(?<=\/jobs\/).*/, '')}`) {
      case 'POST /prompt': {
        const { prompt, prompt_id: id } = json();
        const [node] = Object.values(prompt ?? {});
        if (node === undefined)
          return answer(400, {
            error: {
              type: 'prompt_no_outputs',
              message: 'Prompt has no outputs',
              details: '',
              extra_info: {},
            },
            node_errors: [],
          });
        this.jobs.push({ id, status: 'pending', text: node.text });
        return answer(200, { prompt_id: id, number: this.jobs.length, node_errors: {} });
      }
      case 'GET /api/jobs/': {
        this.advance();
        const job = this.jobs.find(({ id }) => id === pathname.split('/').at(-1));
        if (job === undefined) return answer(404, { error: 'Job not found' });
        return answer(200, viewOf(job));
      }
      case 'GET /view':
        if (searchParams.get('filename') !== 'a cat.png' || searchParams.get('subfolder') !== '')
          return answer(404);
        response.writeHead(200, { 'content-type': 'image/png', 'content-length': png.length }).end(png);
        return;
      case 'POST /queue': {
        const ids = json().delete;
        for (const id of ids) {
          const at = this.jobs.findIndex((job) => job.id === id && job.status === 'pending');
          if (at !== -1) this.deleted.push(...this.jobs.splice(at, 1).map((job) => job.id));
        }
        return answer(200);
      }
      case 'POST /interrupt': {
        const job = this.jobs.find(({ id, status }) => id === json().prompt_id && status === 'in_progress');
        if (job !== undefined) {
          job.status = 'failed';
          this.interrupted.push(job.id);
        }
        return answer(200);
      }
      default:
        return answer(404);
    }
  };

  /** Lets the runs end that hold. */
  release(): void {
    for (const job of this.jobs) job.text = job.text.replace('hold', 'a cat');
  }

  restart(): void {
    this.jobs.length = 0;
  }

  private advance(): void {
    const running = this.jobs.find(({ status }) => status === 'in_progress');
    if (running === undefined) {
      const next = this.jobs.find(({ status }) => status === 'pending');
      if (next !== undefined) next.status = 'in_progress';
    } else if (running.text !== 'hold') running.status = running.text === 'fail' ? 'failed' : 'completed';
  }
}

function viewOf({ id, status, text }: Job): object {
  const base = { id, status, priority: 1, create_time: 1_780_000_000_000 };
  if (status === 'pending' || status === 'in_progress') return { ...base, outputs_count: 0 };
  const workflow = { prompt: { 1: { text } }, extra_data: {} };
  if (status === 'failed') {
    const execution_error =
      text === 'fail'
        ? { node_id: '1', exception_message: 'CUDA out of memory', traceback: ['…'] }
        : undefined;
    return { ...base, outputs_count: 0, execution_error, outputs: {}, workflow };
  }
  const images = [{ filename: 'a cat.png', subfolder: '', type: 'output' }];
  return { ...base, outputs_count: 1, outputs: { 9: { images, animated: [false], text: [text] } }, workflow };
}

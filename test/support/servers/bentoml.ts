import type { Call } from '../model-server.js';
import { png } from './openai.js';

/**
 * Tasks of BentoML, after https://docs.bentoml.com/en/latest/get-started/async-task-queues.html and
 * https://docs.bentoml.com/en/latest/build-with-bentoml/clients.html. It gives each task an id of its own, keeps tasks
 * in memory, and answers /get of a task that failed with the status of the failure.
 */
export class BentoMl {
  readonly tasks = new Map<string, { status: string; input: string }>();
  readonly cancelled: string[] = [];
  private polls = 0;

  readonly respond = ({ method, url, body, response }: Call): void => {
    const answer = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    if (url === '/readyz') {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('');
      return;
    }
    const { pathname, searchParams } = new URL(url, 'http://bento');
    const id = searchParams.get('task_id') ?? '';
    const what = `${method} ${pathname.split('/').at(-1)}`;
    if (what === 'POST submit') {
      const task_id = `task-${this.tasks.size + 1}`;
      this.tasks.set(task_id, { status: 'in_progress', input: (JSON.parse(body) as { text: string }).text });
      return answer(200, { task_id, status: 'in_progress' });
    }
    const task = this.tasks.get(id);
    if (task === undefined) return answer(404, { error: 'task not found' });
    switch (what) {
      case 'GET status':
        // A proxy in front of it answers for it now and then.
        if (++this.polls % 3 === 0) return answer(502, 'Bad Gateway');
        if (this.polls % 3 === 2 && task.input !== 'hold' && task.status === 'in_progress')
          task.status = task.input === 'fail' ? 'failure' : 'success';
        return answer(200, { task_id: id, status: task.status, created_at: '2026-11-27T10:00:00' });
      case 'GET get':
        if (task.status === 'failure') return answer(500, { error: 'CUDA out of memory' });
        if (task.input !== 'a picture') return answer(200, { summary: `seen: ${task.input}` });
        response.writeHead(200, { 'content-type': 'image/png', 'content-length': png.length }).end(png);
        return;
      case 'PUT cancel':
        this.cancelled.push(id);
        task.status = 'cancelled';
        return answer(200, { task_id: id, status: 'cancelled' });
      default:
        return answer(404, {});
    }
  };
}

import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true });
const url = `${process.env.BENCH_MODEL_URL}/timed`;

/** A handler whose work is a call of the model. */
export function callModel() {
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'POST', agent }, (answer) => {
      answer.resume().once('end', resolve).once('error', reject);
    });
    call.once('error', reject).end('{}');
  });
}

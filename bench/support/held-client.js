import { watchEach } from './watching.js';

/** Keeps a status call open for each request, and repeats the call when its time is over. */
await watchEach({ path: 'status', field: 'Prefer: wait=60' }, ({ socket, text, isOpen }) => {
  let answer = '';
  socket.write(text, isOpen);
  return (data, note) => {
    answer += data;
    const head = answer.indexOf('\r\n\r\n');
    const length = Number(/content-length: (\d+)/i.exec(answer)?.[1]);
    if (head === -1 || answer.length < head + 4 + length) return;
    const [, state] = /"status":"([A-Z_]+)"/.exec(answer) ?? [];
    answer = '';
    if (state === undefined) return void socket.destroy();
    note(state);
    if (state === 'COMPLETED') socket.end();
    else socket.write(text);
  };
});

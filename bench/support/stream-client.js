import { watchEach } from './watching.js';

/** Opens a status stream for each request. A stream counts as open once it has sent a state. */
await watchEach({ path: 'status/stream', field: 'Accept: text/event-stream' }, ({ socket, text, isOpen }) => {
  let rest = '';
  socket.write(text);
  return (data, note) => {
    const received = rest + data;
    // A message may be cut anywhere: the text after its last line end waits for more.
    const end = received.lastIndexOf('\n');
    rest = received.slice(end + 1);
    for (const [, state] of received.slice(0, end + 1).matchAll(/"status":"([A-Z_]+)"/g)) {
      note(state);
      isOpen();
    }
  };
});

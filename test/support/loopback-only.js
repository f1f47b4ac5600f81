import net from 'node:net';

/** With `node --import`: ends a program that calls another machine. */
const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...given) {
  const [first, second] = Array.isArray(given[0]) ? given[0] : given;
  const { path, host = 'localhost' } = typeof first === 'object' ? first : { host: second };
  if (path === undefined && !/^(localhost|127\.[\d.]+|::1)$/.test(host)) {
    process.stderr.write(`This program called ${host}, which is another machine.\n`);
    process.exit(99);
  }
  return connect.apply(this, given);
};

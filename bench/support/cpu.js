import { readFileSync, readdirSync } from 'node:fs';
import { cpus } from 'node:os';

/** Linux counts the processor time of a process in hundredths of a second. */
const tickMs = 10;

/**
 * @param {number} pid
 * @returns {number} ms of processor time so far; NaN where there is no /proc
 */
export function cpuMsOf(pid) {
  const stat = statOf(pid);
  return stat === undefined ? NaN : (Number(stat[11]) + Number(stat[12])) * tickMs;
}

/**
 * @param {number} pid
 * @returns {number} ms of processor time of its children, also of those that have ended
 */
export function cpuMsOfChildren(pid) {
  const stat = statOf(pid);
  if (stat === undefined) return NaN;
  const ended = (Number(stat[13]) + Number(stat[14])) * tickMs;
  return childrenOf(pid).reduce((sum, child) => sum + (cpuMsOf(child) || 0), ended);
}

/**
 * @param {number} pid
 * @returns {number} bytes
 */
export function residentBytesOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)[1]) * 1024;
}

/** @returns {number} ms that all cores together have worked so far */
export function machineBusyMs() {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
}

function childrenOf(parent) {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => Number(statOf(pid)?.[1]) === parent);
}

/** Returns the fields after the program's name, which may itself contain spaces and brackets. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

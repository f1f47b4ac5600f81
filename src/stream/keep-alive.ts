import type { MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';

/** Proxies drop connections that are silent for longer. */
const keepAliveMs = 15_000;
/** Comments are sent in this many steps: twenty thousand at once would keep the process busy for half a second. */
const stepsPerRound = 150;
const stepMs = keepAliveMs / stepsPerRound;
/** A step has room for this many streams, or for a few more than its part of all of them. */
const minRoom = 20;

/** All streams share one timer, so that each costs an entry in a set instead of a subscription. */
const steps = Array.from({ length: stepsPerRound }, () => new Set<() => void>());
let streams = 0;
/** The index of the step that comes next, and the time at which it is due, as `performance.now()`. */
let next = 0;
let nextAt = 0;
let timer: NodeJS.Timeout | undefined;

/**
 * Adds a comment line every 15 s, unless the client has not read what was sent before. `HttpConnections` closes the
 * connection of a client that reads too slowly.
 */
export function keepAlive(response: Response): MonoTypeOperatorFunction<MessageEvent> {
  return (messages) =>
    new Observable((subscriber) => {
      const send = (): void => {
        if (!response.writableNeedDrain) subscriber.next({ comment: 'keep-alive' });
      };
      const step = latestStep();
      step.add(send);
      streams++;
      timer ??= startTimer();
      messages.subscribe(subscriber);
      return () => {
        step.delete(send);
        streams--;
        if (streams > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    });
}

/** Returns the latest of the next 150 steps that has room: the first comment comes after 15 s, or earlier in a crowd. */
function latestStep(): Set<() => void> {
  const room = Math.max(minRoom, Math.ceil(streams / stepsPerRound) + 1);
  let ahead = stepsPerRound - 1;
  while (steps[(next + ahead) % stepsPerRound]!.size >= room) ahead--;
  return steps[(next + ahead) % stepsPerRound]!;
}

function startTimer(): NodeJS.Timeout {
  nextAt = performance.now() + stepMs;
  return setInterval(sendDue, stepMs);
}

/** Timers of a busy process are late. A round must not last longer for that, so all steps that are due are taken. */
function sendDue(): void {
  for (; nextAt <= performance.now(); nextAt += stepMs) {
    const step = steps[next]!;
    next = (next + 1) % stepsPerRound;
    for (const send of step) send();
  }
}

import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { NestFactory } from '@nestjs/core';
import express from 'express';
import { AppModule, modelsFileOf } from './app.module.js';
import { ownNode } from './audit/actor.js';
import { AuditedKeys } from './audit/audited-keys.js';
import { linkUrl } from './auth/sign-in-links.js';
import type { Config } from './config/config.js';
import { EmbeddedPostgres } from './embedded-postgres/embedded-postgres.js';
import { openDatabase } from './database/open-database.js';
import { configureHttp } from './http/configure-http.js';
import { listen, localUrl } from './http/listen.js';
import { createLog } from './http/logging.module.js';
import { Draining } from './http/draining.js';
import { HttpConnections } from './http/http-connections.js';
import { ModelsReload } from './admin/models/models-reload.js';
import { ModelsService } from './models/models.service.js';
import { QueueLifecycle } from './queue/queue-lifecycle.js';
import { FastPath } from './requests/fast-path.js';
import { LongPolls } from './requests/long-polls.js';
import { StatusSources } from './queue/reads/status-sources.js';
import { BatchDriver } from './batches/duties/batch-driver.js';
import { WorkerBeats } from './queue/workers/worker-beats.js';
import { WorkerClaims } from './queue/workers/worker-claims.js';

export interface RunningService {
  app: NestExpressApplication;
  /** The URL at which this machine reaches it, as `http://HOST:PORT`. */
  url: string;
  databaseUrl: string;
  /** The keys created because an embedded database had none. They cannot be shown again. */
  newKeys: { admin: string; caller: string } | undefined;
  /** A link that signs in to the console with the administrator's key, once. */
  signInUrl: string | undefined;
  /** Nobody can submit yet, because there is no key and none was created. */
  needsKey: boolean;
  /**
   * Serves calls for `delayMs` more, then drains, hands runs back, closes, and stops the embedded database. Idempotent.
   */
  stop(delayMs?: number): Promise<void>;
  /** Reloads the models file. Its faults are logged. */
  reloadModels(): Promise<void>;
  /** Ends the delay and the grace period of a stop in progress, so that runs are handed back now. */
  endGracePeriod(): void;
}

/**
 * Starts models file, database, migrations, application and port, in this order. If a step fails, or `signal` fires, it
 * undoes them in reverse.
 */
export async function startService(config: Config, signal?: AbortSignal): Promise<RunningService> {
  const file = modelsFileOf(config);
  const models = file.read();
  const embedded = config.databaseUrl === undefined ? new EmbeddedPostgres(config.dataDir) : undefined;
  let app: NestExpressApplication | undefined;
  let stopping: Promise<void> | undefined;
  const graceEnd = new AbortController();
  const stop = (delayMs = 0): Promise<void> =>
    (stopping ??= (async () => {
      if (app !== undefined) await closeApp(app, config, delayMs, graceEnd);
      await embedded?.stop();
    })());
  try {
    const log = await createLog(config);
    const report = (sentence: string): void => log.logger.warn({ context: 'Database' }, sentence);
    const databaseUrl = config.databaseUrl ?? (await embedded!.start({ signal, report }));
    const database = await openDatabase(databaseUrl, config.databaseDirectUrl, {
      isAllowed: config.migrate,
      preparesStatements: config.databasePreparedStatements,
      signal,
      report,
    });
    // Must be set before the router exists. A model may be named `Requests/x`, which is not below `requests`.
    const adapter = new ExpressAdapter(express().set('case sensitive routing', true));
    const module = AppModule.register(config, database, models, file, log);
    app = await NestFactory.create<NestExpressApplication>(module, adapter, {
      bodyParser: false,
      bufferLogs: true,
      abortOnError: false,
      forceCloseConnections: true,
    });
    signal?.throwIfAborted();
    const service = app.get(ModelsService);
    if (config.role !== 'scheduler') app.get(FastPath).install(app.getHttpServer());
    configureHttp(app, () => service.all());
    await app.init();
    signal?.throwIfAborted();
    const [keys, actor] = [app.get(AuditedKeys), ownNode(config.nodeName)];
    // A key given in the settings exists before the first call. A generated key is created after listening, so that it
    // is not lost if the port is taken.
    const bootstrapped = config.bootstrapApiKey !== undefined && (await keys.bootstrap(actor));
    await listen(app.getHttpServer(), config);
    const { printOnce: made, isMissing: needsKey = false } = bootstrapped || (await keys.bootstrap(actor));
    app.get(ModelsService).sayWhatIsServed();
    const hasConsole = config.console && config.role !== 'scheduler';
    const token = made && hasConsole ? await keys.makeLink(actor, made.admin.id) : undefined;
    return {
      app,
      url: listeningUrl(app),
      databaseUrl,
      newKeys: made && { admin: made.admin.secret.reveal(), caller: made.caller.secret.reveal() },
      signInUrl: token && linkUrl(config.publicBaseUrl ?? listeningUrl(app), token),
      needsKey,
      stop,
      reloadModels: () => app!.get(ModelsReload).reloadHere(),
      endGracePeriod: () => graceEnd.abort(),
    };
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
}

/**
 * Stops in this order: readiness and the node's own claims; after `delayMs` new connections; claims and beats of
 * workers; batches; runs; long polls and streams that show the runs; answers in progress; messages to the other nodes;
 * everything else. Runs and answers share one grace period.
 */
async function closeApp(
  app: NestExpressApplication,
  config: Config,
  delayMs: number,
  graceEnd: AbortController,
): Promise<void> {
  const connections = app.get(HttpConnections);
  connections.leave();
  void app.get(QueueLifecycle).leave();
  // Nobody calls a scheduler.
  if (config.role !== 'scheduler') await serveOn(delayMs, graceEnd.signal);
  const grace = setTimeout(() => graceEnd.abort(), config.shutdownGraceMs);
  app.get(Draining).begin();
  app.getHttpServer().close();
  await app.get(WorkerClaims).stop();
  app.get(WorkerBeats).stop();
  // Without a database or a file store, waiting for it would delay the end of the runs and answers.
  const released = app.get(BatchDriver).leave();
  await app.get(QueueLifecycle).drain(graceEnd.signal);
  if (config.role !== 'scheduler') await app.get(LongPolls).stop();
  app.get(StatusSources).closeAll();
  await connections.answersEnded(graceEnd.signal);
  clearTimeout(grace);
  await released;
  await app.get(QueueLifecycle).disconnect();
  await app.close();
}

/** Lets proxies find out that this node is not ready and turn to the others. */
async function serveOn(delayMs: number, end: AbortSignal): Promise<void> {
  if (delayMs === 0) return;
  new Logger('Stop').log(`stopping: calls are served for ${Math.ceil(delayMs / 1_000)} s more`);
  await delay(delayMs, undefined, { signal: end }).catch(() => undefined);
  // Connections that the system has accepted would be reset with the port. The event loop takes them in one turn.
  await nextTurn();
}

function listeningUrl(app: NestExpressApplication): string {
  const { address, port } = app.getHttpServer().address() as AddressInfo;
  return localUrl(address, port);
}

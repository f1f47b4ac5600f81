import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { NestFactory } from '@nestjs/core';
import express from 'express';
import { AppModule, readModels } from './app.module.js';
import { ownNode } from './audit/actor.js';
import { AuditedKeys } from './audit/audited-keys.js';
import { linkUrl } from './auth/sign-in-links.js';
import type { Config } from './config/config.js';
import { EmbeddedPostgres } from './embedded-postgres/embedded-postgres.js';
import { migrate } from './database/migrate.js';
import { configureHttp } from './http/configure-http.js';
import { listen } from './http/listen.js';
import { createLog } from './http/logging.module.js';
import { Draining } from './http/draining.js';
import { HttpConnections } from './http/http-connections.js';
import { ModelsReload } from './admin/models-reload.js';
import { ModelsService } from './models/models.service.js';
import { QueueLifecycle } from './queue/queue-lifecycle.js';
import { FastPath } from './requests/fast-path.js';
import { HeldCalls } from './requests/held-calls.js';
import { StatusSources } from './queue/status-sources.js';
import { WorkerBeats } from './queue/workers/worker-beats.js';
import { WorkerClaims } from './queue/workers/worker-claims.js';

export interface RunningService {
  app: NestExpressApplication;
  /** `http://HOST:PORT`, where it listens. */
  url: string;
  databaseUrl: string;
  /** The key that was made because an embedded database had none; it cannot be shown again. */
  newKey: string | undefined;
  /** Signs in to the console as that key, once. */
  signInUrl: string | undefined;
  /** Nobody can submit yet: there is no key, and none was made. */
  needsKey: boolean;
  /** Drains, hands back, closes, and stops the embedded database. Safe to call twice. */
  stop(): Promise<void>;
  /** Reads the models file again; what is wrong with it is in the log. */
  reloadModels(): Promise<void>;
  /** Ends the grace of a stop that is under way: runs are handed back now. */
  endGracePeriod(): void;
}

/**
 * Models file, database, migrations, application, port: in that order, and undone in reverse if one fails, or when
 * `signal` says so.
 */
export async function startService(config: Config, signal?: AbortSignal): Promise<RunningService> {
  const models = readModels(config);
  const embedded = config.databaseUrl === undefined ? new EmbeddedPostgres(config.dataDir) : undefined;
  let app: NestExpressApplication | undefined;
  let stopping: Promise<void> | undefined;
  const graceEnd = new AbortController();
  const stop = (): Promise<void> =>
    (stopping ??= (async () => {
      if (app !== undefined) await closeApp(app, config, graceEnd);
      await embedded?.stop();
    })());
  try {
    const databaseUrl = config.databaseUrl ?? (await embedded!.start(signal));
    const log = await createLog(config);
    const report = (sentence: string): void => log.logger.warn({ context: 'Migrations' }, sentence);
    await migrate(config.databaseDirectUrl ?? databaseUrl, { signal, report });
    // Before there is a router: a model may be `Requests/x`, which is not below `requests`.
    const adapter = new ExpressAdapter(express().set('case sensitive routing', true));
    const module = AppModule.register(config, databaseUrl, models, log);
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
    // A key that its caller has is there with the first call. One that is made is not lost to a port that is taken.
    const bootstrapped = config.bootstrapApiKey !== undefined && (await keys.bootstrap(actor));
    await listen(app.getHttpServer(), config);
    const { printOnce: newKey, isMissing: needsKey = false } = bootstrapped || (await keys.bootstrap(actor));
    app.get(ModelsService).sayWhatIsServed();
    const hasConsole = config.console && config.role !== 'scheduler';
    const token = newKey && hasConsole ? await keys.makeLink(actor, newKey.id) : undefined;
    return {
      app,
      url: listeningUrl(app),
      databaseUrl,
      newKey: newKey?.secret.reveal(),
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
 * No new connections; workers ask elsewhere; then the runs, then the held calls and streams that showed them, then the
 * answers that are under way, then everything else. Runs and answers have the same grace.
 */
async function closeApp(
  app: NestExpressApplication,
  config: Config,
  graceEnd: AbortController,
): Promise<void> {
  // A timer of more than 24 days would be over at once.
  const grace = setTimeout(() => graceEnd.abort(), Math.min(config.shutdownGraceMs, 2 ** 31 - 1));
  app.get(Draining).begin();
  app.getHttpServer().close();
  await app.get(WorkerClaims).stop();
  app.get(WorkerBeats).stop();
  await app.get(QueueLifecycle).drain(graceEnd.signal);
  if (config.role !== 'scheduler') await app.get(HeldCalls).stop();
  app.get(StatusSources).closeAll();
  await app.get(HttpConnections).answersEnded(graceEnd.signal);
  clearTimeout(grace);
  await app.close();
}

function listeningUrl(app: NestExpressApplication): string {
  const { address, port, family } = app.getHttpServer().address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

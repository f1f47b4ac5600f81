import type { AddressInfo } from 'node:net';
import { Controller, type DynamicModule, Get, Module, Param, Post, Put, Sse } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { type Observable, of } from 'rxjs';
import { authEntities } from '../../src/auth/auth.module.js';
import { assertMayUse, type Caller } from '../../src/auth/caller.js';
import { CurrentCaller } from '../../src/auth/current-caller.decorator.js';
import type { NewKey } from '../../src/auth/key-store.js';
import { KeysService } from '../../src/auth/keys.service.js';
import { ConfigModule } from '../../src/config/config.module.js';
import { Config } from '../../src/config/config.js';
import { DatabaseModule } from '../../src/database/database.module.js';
import { configureHttp } from '../../src/http/configure-http.js';
import { HttpModule } from '../../src/http/http.module.js';
import { LoggingModule } from '../../src/http/logging.module.js';
import { Limited } from '../../src/rate-limit/limited.decorator.js';
import { RateLimitModule } from '../../src/rate-limit/rate-limit.module.js';

@Controller()
class LimitedController {
  @Post('submit/*model')
  @Limited('submit')
  submit(@CurrentCaller() caller: Caller, @Param('model') model: string[]): { keyId: string } {
    assertMayUse(caller, model.join('/'));
    return { keyId: caller.keyId };
  }

  @Get('read')
  @Limited('read')
  read(@CurrentCaller() caller: Caller | undefined): { keyId: string | null } {
    return { keyId: caller?.keyId ?? null };
  }

  @Sse('stream')
  @Limited('read')
  stream(): Observable<{ data: string }> {
    return of({ data: 'one' }, { data: 'two' }, { data: 'three' });
  }

  @Put('cancel')
  @Limited('cancel')
  cancel(): { status: string } {
    return { status: 'CANCELLED' };
  }

  @Get('free')
  free(): { status: string } {
    return { status: 'ok' };
  }
}

@Module({})
class LimitedModule {
  static register(config: Config): DynamicModule {
    return {
      module: LimitedModule,
      imports: [
        ConfigModule.register(config),
        LoggingModule.register(config),
        DatabaseModule.register(config.databaseUrl!, 4, authEntities),
        RateLimitModule,
        HttpModule,
      ],
      controllers: [LimitedController],
    };
  }
}

export interface LimitedApp {
  app: NestExpressApplication;
  keys: KeysService;
  call(method: string, path: string, headers?: Record<string, string>): Promise<Response>;
  /** With a key, or without one. */
  submit(key?: string, headers?: Record<string, string>): Promise<Response>;
  read(key?: string, headers?: Record<string, string>): Promise<Response>;
  newKey(key?: Partial<NewKey>): Promise<string>;
  stop(): Promise<void>;
}

/** One node with nothing but guarded routes. Several may share a database. No limits unless `settings` has some. */
export async function startLimitedApp(
  databaseUrl: string,
  settings: Partial<Config> = {},
): Promise<LimitedApp> {
  const config = Object.assign(new Config(), {
    databaseUrl,
    logLevel: 'silent',
    rateLimitSubmit: [],
    rateLimitOther: [],
    ...settings,
  });
  const app = await NestFactory.create<NestExpressApplication>(LimitedModule.register(config), {
    bodyParser: false,
    bufferLogs: true,
    abortOnError: false,
    forceCloseConnections: true,
  });
  configureHttp(app, config);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const keys = app.get(KeysService);
  const call = (method: string, path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, { method, headers });
  const withKey = (key?: string): Record<string, string> =>
    key === undefined ? {} : { authorization: `Key ${key}` };
  return {
    app,
    keys,
    call,
    submit: (key, headers) => call('POST', '/submit/acme/upscale', { ...withKey(key), ...headers }),
    read: (key, headers) => call('GET', '/read', { ...withKey(key), ...headers }),
    newKey: async (key) => (await keys.create({ name: 'test', ...key })).reveal(),
    stop: () => app.close(),
  };
}

/** The body of a refusal, as far as tests look at it. */
export async function problem(
  response: Response,
): Promise<{ code: string; detail: string; [name: string]: unknown }> {
  return (await response.json()) as { code: string; detail: string };
}

import type { AddressInfo } from 'node:net';
import { Controller, Get, HttpCode, Module, Post, Put, Req, Res, UseGuards } from '@nestjs/common';
import type { CanActivate, DynamicModule, ExecutionContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import { AllowancesModule } from '../../src/allowances/allowances.module.js';
import { Config, ConfigModule } from '../../src/config/config.js';
import { DatabaseUnavailable } from '../../src/errors/database-error.js';
import { DomainError } from '../../src/errors/domain-error.js';
import { BodyReader } from '../../src/http/body-reader.js';
import { configureHttp } from '../../src/http/configure-http.js';
import { HttpModule } from '../../src/http/http.module.js';
import { LoggingModule } from '../../src/http/logging.module.js';

class NeedsKey implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<Request>();
    if (headers.authorization !== undefined) return true;
    throw new DomainError('missing_key', 'Send an API key.');
  }
}

/** Routes that fail in every way in which a real route could. */
@Controller('probe')
class ProbeController {
  constructor(private readonly bodies: BodyReader) {}

  @Post('body')
  @UseGuards(NeedsKey)
  @HttpCode(200)
  async body(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<{ size: number; text: string }> {
    const body = await this.bodies.read(request, response);
    return { size: body.length, text: body.subarray(0, 100).toString() };
  }

  @Get('secret')
  secret(): never {
    throw new Error('SELECT hunter2 FROM api_key');
  }

  @Get('thrown-string')
  string(): never {
    throw 'hunter2';
  }

  @Get('database')
  database(): never {
    const cause = Object.assign(new Error('connect ECONNREFUSED 10.0.0.5:5432'), { code: 'ECONNREFUSED' });
    throw new DatabaseUnavailable('away', cause);
  }

  @Get('limited')
  limited(): never {
    throw new DomainError('rate_limited', 'Too fast.', { status: 429, retryAfterSeconds: 0.2 });
  }

  @Get('model')
  model(): never {
    throw new DomainError('model_error', 'No.', {
      status: 418,
      details: { said: 'no' },
      timestamp: '2026-01-01T00:00:00.000Z',
      extensions: { attempt: 2 },
    });
  }

  @Get('late')
  late(@Res() response: Response): void {
    response.write('half an ans');
    throw new Error('too late');
  }

  @Put('put/:id')
  put(): { status: string } {
    return { status: 'ok' };
  }
}

@Module({})
class ProbeModule {
  static register(config: Config): DynamicModule {
    return {
      module: ProbeModule,
      imports: [ConfigModule.register(config), LoggingModule.register(config), AllowancesModule, HttpModule],
      controllers: [ProbeController],
    };
  }
}

export interface ProbeApp {
  app: NestExpressApplication;
  url: string;
}

/** Starts the service's HTTP layer without a database. */
export async function startProbeApp(settings: Partial<Config> = {}): Promise<ProbeApp> {
  const config = Object.assign(new Config(), { logLevel: 'silent', maxBodyBytes: 1_000, ...settings });
  const app = await NestFactory.create<NestExpressApplication>(ProbeModule.register(config), {
    bodyParser: false,
    bufferLogs: true,
    abortOnError: false,
  });
  configureHttp(app);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return { app, url: `http://127.0.0.1:${port}` };
}

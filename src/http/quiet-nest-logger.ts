import { Injectable } from '@nestjs/common';
import { Logger } from 'nestjs-pino';

const startUp = new Set([
  'NestFactory',
  'NestApplication',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
]);

/** Nest's logger, whose account of its own start is told at debug only. */
@Injectable()
export class QuietNestLogger extends Logger {
  override log(message: unknown, ...optionalParams: unknown[]): void {
    if (startUp.has(String(optionalParams.at(-1)))) super.debug(message, ...optionalParams);
    else super.log(message, ...optionalParams);
  }
}

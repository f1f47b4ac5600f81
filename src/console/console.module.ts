import { Module } from '@nestjs/common';
import { ConsoleController } from './console.controller.js';
import { ConsoleFiles } from './console-files.js';

/** The console at /console. All it shows and does goes through the public HTTP API. */
@Module({ controllers: [ConsoleController], providers: [ConsoleFiles] })
export class ConsoleModule {}

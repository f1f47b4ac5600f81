import { Global, Module } from '@nestjs/common';
import { JsonThreads } from './json-threads.js';

@Global()
@Module({ providers: [JsonThreads], exports: [JsonThreads] })
export class JsonModule {}

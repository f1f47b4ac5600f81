import { Global, Module } from '@nestjs/common';
import { JsonThreads } from './json-threads.js';
import { WrappedInputs } from './wrapped-inputs.js';

@Global()
@Module({ providers: [JsonThreads, WrappedInputs], exports: [JsonThreads, WrappedInputs] })
export class JsonModule {}

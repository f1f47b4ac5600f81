import { Global, Module } from '@nestjs/common';
import { Allowances } from './allowances.js';

@Global()
@Module({ providers: [Allowances], exports: [Allowances] })
export class AllowancesModule {}

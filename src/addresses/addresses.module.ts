import { Module } from '@nestjs/common';
import { AddressRule } from './address-rule.js';
import { Resolver } from './resolver.js';

@Module({ providers: [AddressRule, Resolver], exports: [AddressRule, Resolver] })
export class AddressesModule {}

import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { ServiceSecretEntity } from './entities/service-secret.entity.js';

/** Secrets that the service made for itself, the same on every node. */
@Injectable()
export class ServiceSecrets {
  constructor(
    @InjectRepository(ServiceSecretEntity) private readonly rows: Repository<ServiceSecretEntity>,
  ) {}

  /** Returns 32 bytes, made when they are first asked for. */
  async of(name: string): Promise<Buffer> {
    // If several nodes make one at once, one of them succeeds, and all read that one.
    const made = { name, value: randomBytes(32) };
    await this.rows.createQueryBuilder().insert().values(made).orIgnore().execute();
    const [row] = await this.rows.find({ where: { name }, select: { value: true } });
    return row!.value;
  }
}

import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { ServiceSecretEntity } from './entities/service-secret.entity.js';

/** What the service made for itself, the same on every node. */
@Injectable()
export class ServiceSecrets {
  constructor(
    @InjectRepository(ServiceSecretEntity) private readonly rows: Repository<ServiceSecretEntity>,
  ) {}

  /** 32 bytes, made when they are first asked for. */
  async of(name: string): Promise<Buffer> {
    // Of several nodes that make one at once, one succeeds, and all read that.
    const made = { name, value: randomBytes(32) };
    await this.rows.createQueryBuilder().insert().values(made).orIgnore().execute();
    const [row] = await this.rows.find({ where: { name }, select: { value: true } });
    return row!.value;
  }
}

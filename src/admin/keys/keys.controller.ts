import { Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AuditTrail } from '../../audit/audit-trail.js';
import type { GuardedRequest } from '../../auth/current-caller.decorator.js';
import { BodyReader } from '../../http/body-reader.js';
import { ClientAddress } from '../../http/client-address.js';
import { sendReply } from '../../http/reply.js';
import { Limited } from '../../limits/limited.js';
import { assertKnown, assertNoOptions } from '../../http/input/option.js';
import { idOf } from '../id-param.js';
import { ReasonBodies } from '../requests/reason-bodies.js';
import { changesOf, newKeyOf } from './key-body.js';
import { type AdminKeyDto, KeysQuery, LastAdminQuery, type MadeKeyDto } from './key.dto.js';
import { Keys } from './keys.js';
import { ApiCreateKey, ApiListKeys, ApiReadKey, ApiRevokeKey, ApiUpdateKey } from './operations.js';

const lastAdminOptions: (keyof LastAdminQuery)[] = ['allow_no_admin'];

@ApiTags('Admin')
@Controller('v1/admin/keys')
export class KeysController {
  constructor(
    private readonly keys: Keys,
    private readonly trail: AuditTrail,
    private readonly bodies: BodyReader,
    private readonly reasons: ReasonBodies,
    private readonly addresses: ClientAddress,
  ) {}

  @Get()
  @ApiListKeys()
  @Limited('observe', { needsKey: true })
  async listKeys(
    @Query() query: KeysQuery,
    @Req() request: GuardedRequest,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.keys.list(query, this.addresses.baseUrl(request)));
  }

  @Post()
  @HttpCode(201)
  @ApiCreateKey()
  @Limited('admin', { needsKey: true })
  async createKey(
    @Req() request: GuardedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<MadeKeyDto> {
    assertNoOptions(request.query);
    const { newKey, reason } = newKeyOf(await this.bodies.read(request, response));
    return this.keys.create(this.trail.actorOf(request, request.caller), newKey, reason);
  }

  @Get(':key_id')
  @ApiReadKey()
  @Limited('observe', { needsKey: true })
  readKey(@Param('key_id') id: string): Promise<AdminKeyDto> {
    return this.keys.read(idOf('key', id));
  }

  @Patch(':key_id')
  @ApiUpdateKey()
  @Limited('admin', { needsKey: true })
  async updateKey(
    @Param('key_id') id: string,
    @Query() query: LastAdminQuery,
    @Req() request: GuardedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AdminKeyDto> {
    assertKnown(Object.entries(request.query), lastAdminOptions);
    const { changes, reason } = changesOf(await this.bodies.read(request, response));
    const actor = this.trail.actorOf(request, request.caller);
    const allowNoAdmin = query.allow_no_admin === 'true';
    return this.keys.update(actor, idOf('key', id), changes, { allowNoAdmin, reason });
  }

  @Delete(':key_id')
  @HttpCode(204)
  @ApiRevokeKey()
  @Limited('admin', { needsKey: true })
  async revokeKey(
    @Param('key_id') id: string,
    @Query() query: LastAdminQuery,
    @Req() request: GuardedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    const reason = await this.reasons.read(request, response, lastAdminOptions);
    const actor = this.trail.actorOf(request, request.caller);
    const allowNoAdmin = query.allow_no_admin === 'true';
    await this.keys.revoke(actor, idOf('key', id), { allowNoAdmin, reason });
  }
}

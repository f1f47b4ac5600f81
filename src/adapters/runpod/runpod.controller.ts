import { applyDecorators, Controller, Get, Param, Post, Res } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Caller } from '../../auth/caller.js';
import { CurrentCaller } from '../../auth/current-caller.decorator.js';
import { Bytes } from '../../http/input/decorators.js';
import { sendReply } from '../../http/reply.js';
import { Limited } from '../../limits/limited.js';
import { maxHoldMs } from '../../requests/long-polls.js';
import { type KeyedCall, type OpenCall, TheCall } from '../adapter-call.js';
import { ApiOtherBody, ApiOtherCall, ApiPathText } from '../openapi.js';
import { EndpointHealth } from './endpoint-health.js';
import { RunpodHandlers } from './runpod-handlers.js';
import { waitMsOf } from './wait.js';

const service = { name: 'Runpod', page: 'docs/runpod.md' };
const ApiEndpoint = ApiPathText(
  'endpoint',
  'The id of a model, of any number of segments, or an alias of it.',
);
const ApiJob = applyDecorators(ApiEndpoint, ApiPathText('request_id', 'The `id` of the job.'));
const ApiJobBody = applyDecorators(
  ApiEndpoint,
  ApiOtherBody('The body that Runpod documents: `input`, `webhook` and `policy`.'),
);
const ApiWait = ApiQuery({
  name: 'wait',
  required: false,
  description:
    `How long the call waits for the end of the job, in milliseconds: 1000 to ${maxHoldMs}. ` +
    'A shorter or longer wait is accepted, and counts as the nearest of these.',
  schema: { type: 'integer', default: maxHoldMs },
});

/** The segments of the path that name a model. */
const joined = { transform: (segments: readonly string[]): string => segments.join('/') };
const Endpoint = (): ParameterDecorator => Param('endpoint', joined);

/** The endpoint operations as Runpod's clients call them. A job is found by its id alone. */
@Controller('runpod/v2')
export class RunpodController {
  constructor(
    private readonly handlers: RunpodHandlers,
    private readonly endpoints: EndpointHealth,
  ) {}

  @Post('*endpoint/run')
  @ApiOtherCall(service, 'runpodRun', 'Submit a job', 'Answers as soon as the job is on disk.', ApiJobBody)
  @Limited('submit', { needsKey: true })
  async runJob(
    @Endpoint() endpoint: string,
    @TheCall() call: KeyedCall,
    @Bytes() body: Buffer,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.run({ ...call, endpoint, body }));
  }

  @Post('*endpoint/runsync')
  @ApiOtherCall(
    service,
    'runpodRunSync',
    'Submit a job and wait for it',
    'Answers when the job has ended or the wait is over. A call that is closed before that cancels the job after 10 s, ' +
      'unless the client repeats the call.',
    ApiJobBody,
    ApiWait,
  )
  @Limited('submit', { needsKey: true })
  async runJobSync(
    @Endpoint() endpoint: string,
    @TheCall() call: KeyedCall,
    @Bytes() body: Buffer,
    @Res() response: Response,
  ): Promise<void> {
    const reply = await this.handlers.runSync({ ...call, endpoint, body }, waitMsOf(call.request.query));
    if (reply !== undefined) sendReply(response, reply);
  }

  @Get('*endpoint/status/:request_id')
  @ApiOtherCall(service, 'runpodStatus', 'Read a job', 'Its status, and its output.', ApiJob)
  @Limited('read')
  async jobStatus(
    @Param('request_id') id: string,
    @TheCall() call: OpenCall,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.status(call, id));
  }

  @Get('*endpoint/status-sync/:request_id')
  @ApiOtherCall(
    service,
    'runpodStatusSync',
    'Wait for a job',
    'Answers when the job has ended or the wait is over.',
    ApiJob,
    ApiWait,
  )
  @Limited('read')
  async jobStatusSync(
    @Param('request_id') id: string,
    @TheCall() call: OpenCall,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.statusSync(call, id, waitMsOf(call.request.query)));
  }

  @Get('*endpoint/stream/:request_id')
  @ApiOtherCall(
    service,
    'runpodStream',
    'Read the next parts of an output',
    'Answers with the parts that no earlier call has had, as soon as there are some, or after 8 s.',
    ApiJob,
  )
  @Limited('read')
  async streamJob(
    @Param('request_id') id: string,
    @TheCall() call: OpenCall,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.stream(call, id));
  }

  @Post('*endpoint/cancel/:request_id')
  @ApiOtherCall(
    service,
    'runpodCancel',
    'Cancel a job',
    'A job that runs is asked to stop. The call waits 2 s for that.',
    ApiJob,
  )
  @Limited('cancel')
  async cancelJob(
    @Param('request_id') id: string,
    @TheCall() call: OpenCall,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.cancel(call, id));
  }

  @Post('*endpoint/retry/:request_id')
  @ApiOtherCall(
    service,
    'runpodRetry',
    'Submit a job again',
    'The job must have failed or timed out. The new job has an id of its own.',
    ApiJob,
  )
  @Limited('submit', { needsKey: true })
  async retryJob(
    @Param('request_id') id: string,
    @TheCall() call: KeyedCall,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.retry(call, id));
  }

  @Post('*endpoint/purge-queue')
  @ApiOtherCall(
    service,
    'runpodPurgeQueue',
    'Cancel waiting jobs',
    'Cancels the jobs of the key for this model that wait. Jobs of other keys stay.',
    ApiEndpoint,
  )
  @Limited('cancel', { needsKey: true })
  async purgeQueue(
    @Endpoint() endpoint: string,
    @TheCall() call: KeyedCall,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.purgeQueue(call.caller, endpoint));
  }

  @Get('*endpoint/health')
  @ApiOtherCall(
    service,
    'runpodHealth',
    'Read the state of a model',
    'Jobs of all keys: completed and failed in the last hour, waiting, running, and waiting for another attempt ' +
      '(`retried`). A worker is a slot for a run.',
    ApiEndpoint,
  )
  @Limited('read', { needsKey: true })
  endpointHealth(@Endpoint() endpoint: string, @CurrentCaller() caller: Caller): Promise<object> {
    return this.endpoints.of(caller, endpoint);
  }
}

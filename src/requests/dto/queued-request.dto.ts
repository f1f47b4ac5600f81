import { ApiProperty, ApiSchema } from '@nestjs/swagger';

@ApiSchema({ name: 'QueuedRequest', description: 'A request in the queue, and where to ask for it.' })
export class QueuedRequestDto {
  @ApiProperty({
    description: 'Unique identifier of the queued request, a UUIDv7; used in all request-level paths.',
    format: 'uuid',
    example: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b',
  })
  request_id!: string;

  @ApiProperty({
    description: 'Where the response is, once the request has completed.',
    format: 'uri',
    example: 'http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b',
  })
  response_url!: string;

  @ApiProperty({
    description: 'Where the status is read; add /stream to follow it.',
    format: 'uri',
    example: 'http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/status',
  })
  status_url!: string;

  @ApiProperty({
    description: 'Where the request is cancelled, with PUT.',
    format: 'uri',
    example: 'http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/cancel',
  })
  cancel_url!: string;
}

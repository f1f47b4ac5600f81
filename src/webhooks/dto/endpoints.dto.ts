import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { BodySchema } from '../../http/input/body.js';
import { Option, RequiredOption } from '../../http/input/option.js';
import { flag, listOf, oneOf } from '../../tools/rules.js';
import { PageDto } from '../../http/openapi/page.dto.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';
import { exampleTime, time, timeOrNull } from '../../http/openapi/schemas.js';
import { webhookUrl } from '../../requests/dto/submit.query.js';
import { type WebhookEventType, webhookEventTypes } from '../webhook-events.js';
import { eventText } from './deliveries.dto.js';

const exampleUrl = 'https://example.org/hook';
const events = listOf(oneOf(webhookEventTypes), webhookEventTypes.length);
const urlText = '`https` to a public address, or an address that the setting `WEBHOOK_ALLOW` lists.';

@BodySchema({
  name: 'NewWebhookEndpoint',
  description: 'An endpoint to add.',
  examples: { progress: { url: exampleUrl, events: ['request.progress', 'request.completed'] } },
})
export class NewEndpointDto {
  @RequiredOption(webhookUrl, `The URL that is called: ${urlText}`, exampleUrl)
  url!: string;
  @Option(
    events,
    'The events that it gets. Default: `request.completed`; an endpoint that exists keeps its events.',
    ['request.completed'],
  )
  events: readonly WebhookEventType[] | undefined;
}

@BodySchema({
  name: 'WebhookEndpointChanges',
  description: 'What changes of an endpoint. A member that is left out stays as it is.',
  examples: { events: { events: ['request.started', 'request.completed'] } },
})
export class EndpointChangesDto {
  @Option(webhookUrl, `The URL that is called: ${urlText}`, exampleUrl)
  url: string | undefined;
  @Option(events, 'The events that it gets.', ['request.completed'])
  events: readonly WebhookEventType[] | undefined;
  @Option(flag, 'true: it gets no new deliveries. false: it is called again, also after a 410.', false)
  disabled: boolean | undefined;
}

@ApiSchema({ name: 'WebhookEndpoint', description: 'A URL that gets the events of all requests of the key.' })
export class EndpointDto {
  @Field('The id of the endpoint.', exampleId, { format: 'uuid' })
  id!: string;
  @Field('The URL that is called.', exampleUrl, { format: 'uri' })
  url!: string;
  @ApiProperty({
    description: `The events that it gets. ${eventText}`,
    type: [String],
    example: ['request.completed'],
  })
  events!: readonly string[];
  @Field('The time at which it was added.', exampleTime, time)
  created_at!: string;
  @Field(
    'The time since which it gets no new deliveries, because it was disabled or answered 410; null: it is called.',
    null,
    timeOrNull,
  )
  disabled_at!: string | null;
}

@ApiSchema({ name: 'MadeWebhookEndpoint', description: 'An added endpoint with the secret of the key.' })
export class MadeEndpointDto extends EndpointDto {
  @Field(
    'The newest secret with which the webhooks of the key are signed, for the receiver. Lists do not show it.',
    'whsec_…',
  )
  secret!: string;
}

@ApiSchema({ name: 'WebhookEndpointPage', description: 'A page of endpoints, newest first.' })
export class EndpointPageDto extends PageDto {
  @ApiProperty({ description: 'The endpoints of the page.', type: [EndpointDto] })
  data!: EndpointDto[];
}

@ApiSchema({
  name: 'WebhookSecrets',
  description: 'The secrets with which the webhooks of a key are signed.',
})
export class WebhookSecretsDto {
  @ApiProperty({
    description: 'The secrets in use, newest first. After a rotation there are two for a day.',
    type: [String],
    example: ['whsec_…'],
  })
  secrets!: string[];
}

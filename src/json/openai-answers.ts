import { isObject, type JsonObject } from './assemblers.js';
import { embeddingsInBase64 } from './embeddings.js';
import { type ResponseHead, responseTexts, type SentPart } from './responses.js';
import { type ChoiceStream, restOfChoices, restOfTranscript } from './stream-chunks.js';

/** What OpenAI's API answers with the output of a model, and what each answer needs besides the output. */
export interface OpenAiAsks {
  /** The output as a response. If a part of it was sent as a stream: the other events. */
  response: { head: ResponseHead; sent?: SentPart | undefined };
  /** The other events of a stream of a chat or a completion. */
  restOfChoices: ChoiceStream;
  /** The other events of a stream of a transcription. */
  restOfTranscript: { sent: string };
  /** The output with its embeddings in base64 in place of numbers. */
  embeddings: object;
  /** The URLs of its images. */
  imageUrls: object;
  /** The output with images in base64 in place of their URLs. */
  embeddedImages: { base64: ReadonlyMap<string, string> };
  /** The URL of an output that is a file. Without one there is no text. */
  fileUrl: object;
}

export type OpenAiAnswer = keyof OpenAiAsks;

type Answers = { [Name in OpenAiAnswer]: (ask: OpenAiAsks[Name], output: string) => string[] };

const answers: Answers = {
  response: ({ head, sent }, output) => responseTexts(head, JSON.parse(output), sent),

  restOfChoices: (stream, output) => restOfChoices(stream, JSON.parse(output)),

  restOfTranscript: ({ sent }, output) => restOfTranscript(sent, JSON.parse(output)),

  embeddings: (_ask, output) => [embeddingsInBase64(output)],

  imageUrls: (_ask, output) =>
    imagesIn(JSON.parse(output)).flatMap(({ url }) => (typeof url === 'string' ? [url] : [])),

  embeddedImages({ base64 }, output) {
    const value: unknown = JSON.parse(output);
    for (const image of imagesIn(value)) {
      const bytes = typeof image['url'] === 'string' ? base64.get(image['url']) : undefined;
      if (bytes === undefined) continue;
      delete image['url'];
      image['b64_json'] = bytes;
    }
    return [JSON.stringify(value)];
  },

  fileUrl(_ask, output) {
    const value: unknown = JSON.parse(output);
    const file = isObject(value) && isObject(value['file']) ? value['file'] : {};
    return typeof file['url'] === 'string' ? [file['url']] : [];
  },
};

/** Returns the texts that an answer consists of. `output`: JSON text. */
export const openAiTexts = <Name extends OpenAiAnswer>(
  name: Name,
  ask: OpenAiAsks[Name],
  output: string,
): string[] => answers[name](ask, output);

const imagesIn = (output: unknown): JsonObject[] =>
  isObject(output) && Array.isArray(output['data']) ? output['data'].filter(isObject) : [];

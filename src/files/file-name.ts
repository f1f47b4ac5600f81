export const maxNameLength = 200;
const maxExtension = 20;

/** Returns the last part of the name that a caller gave, without what could break a path, a header or a screen. */
export function fileNameOf(given: string): string {
  const last = given.toWellFormed().split(/[/\\]/).at(-1)!;
  // Control characters, invisible characters, and those that change the writing direction.
  const clean = last.replaceAll(/[\p{C}\p{Zl}\p{Zp}\ufffd]/gu, '').trim();
  if (/^\.*$/.test(clean)) return 'file';
  const characters = Array.from(clean);
  if (characters.length <= maxNameLength) return clean;
  const extension = /\.[^.]+$/u.exec(clean)?.[0] ?? '';
  const ending = Array.from(extension).length <= maxExtension ? extension : '';
  return characters.slice(0, maxNameLength - Array.from(ending).length).join('') + ending;
}

const extensions: Record<string, string> = {
  'application/octet-stream': 'bin',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'image/jpeg': 'jpg',
  'image/vnd.microsoft.icon': 'ico',
  'model/gltf-binary': 'glb',
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
};

/** Returns a name for a file that has none. */
export function nameForType(contentType: string): string {
  const type = mediaTypeOf(contentType);
  const plain = /\/(?:x-)?([a-z0-9]{1,10})(?:\+|$)/.exec(type)?.[1] ?? 'bin';
  return `output.${extensions[type] ?? plain}`;
}

/** `type/subtype`, in lower case and without parameters. */
function mediaTypeOf(contentType: string): string {
  return contentType.split(';', 1)[0]!.trim().toLowerCase();
}

const token = "[A-Za-z0-9!#$%&'*+.^_`|~-]+";
const contentType = new RegExp(
  `^${token}/${token}(?:[ \\t]*;[ \\t]*${token}=(?:${token}|"[\\x20-\\x21\\x23-\\x5b\\x5d-\\x7e]*"))*$`,
);

export const maxContentTypeLength = 255;

export function isContentType(text: string): boolean {
  return text.length <= maxContentTypeLength && contentType.test(text);
}

/** Types that browsers show without running anything in them. SVG and XML may hold scripts. */
const shown = /^(?:image|audio|video)\/(?!.*(?:svg|xml))/;

/** Returns the Content-Disposition for browsers, with the name as RFC 6266 and RFC 8187 define it. */
export function dispositionOf(contentType: string, name: string): string {
  const kind = shown.test(mediaTypeOf(contentType)) ? 'inline' : 'attachment';
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  if (plain === name) return `${kind}; filename="${name}"`;
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded(name)}`;
}

const encoded = (name: string): string =>
  encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );

// The attachments of a revision. What is shown can't run: pictures are images, text is text, and PDF is in a frame of its own.
import {button, bytes, confirmed, during, edits, el, fileInput, fill, text, visible} from './dom.js'
import {inConflict, path, send, userOf} from './api.js'

const pictures = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/
const texts = /^(text\/[a-z0-9.+-]+|application\/([a-z0-9.+-]*\+)?(json|xml)|application\/(javascript|yaml))$/
const longestText = 262_144
const longestPDF = 64_000_000

/**
 * @param isCurrent Whether the revision is the winner, whose attachments can be changed.
 * @param changed Called after a change with the new revision, and with what is said of it.
 */
export function showAttachments(store, doc, isCurrent, signal, changed) {
  const attachments = doc.get('_attachments') ?? new Map()
  if (!attachments.size && !isCurrent) return null
  const view = el('div', {id: 'attachment', 'aria-live': 'polite'})
  const rows = [...attachments].map(([name, stub]) => {
    // A type is any text.
    const type = String(stub.get('content_type') ?? '').split(';')[0].trim().toLowerCase()
    const address = addressOf(store, doc, name)
    const show = address && (pictures.test(type) ? picture : type === 'application/pdf' ? pdf : texts.test(type) && beginning)
    const attachment = {name, address, length: stub.get('length'), store, signal}
    return el('li', {}, el('span', {class: 'name'}, text(name, 120), el('span', {class: 'soft'}, text(type || 'unknown type', 80), `, ${bytes(stub.get('length') ?? 0)}`)),
      el('span', {class: 'row'}, show && button('Show', async () => fill(view, el('h3', {}, text(name, 120)), await show(attachment)), {'aria-label': `Show ${name}`}),
        address ? download(name, address, store, signal) : text(unnamable(name), 200),
        isCurrent && address && button('Remove', () => remove(store, doc, name, changed), {class: `danger ${edits(doc.get('_id')).class}`, 'aria-label': `Remove ${name}`})))
  })
  const file = fileInput(chosen => during(adding, () => add(store, doc, chosen, changed)))
  const adding = el('button', {type: 'button', ...edits(doc.get('_id')), onclick: () => file.click()}, 'Add a file…')
  return el('section', {'aria-labelledby': 'attachments'}, el('div', {class: 'row'}, el('h2', {id: 'attachments'}, 'Attachments'), isCurrent && [file, adding]),
    rows.length > 0 && el('ul', {class: 'files', 'aria-labelledby': 'attachments'}, rows), view)
}

/** The address of an attachment; null if there is none: a browser takes `.` and `..` out, and it would be that of something else. */
export function addressOf(store, doc, name, rev = doc.get('_rev')) {
  const id = doc.get('_id')
  return [id, name].some(part => part === '.' || part === '..') ? null : path(store, id, name) + `?rev=${encodeURIComponent(rev)}`
}

export function unnamable(name) { return `A browser has no address for ${visible(name, 60)} of this document; use cdtquery attachment.` }

async function change(method, store, doc, name, options, said, changed) {
  const address = addressOf(store, doc, name)
  if (!address) throw new Error(unnamable(name))
  const response = await send(method, address, options).catch(
    inConflict('The document was changed meanwhile. Load the page again to see it.'))
  await changed((await response.json()).rev, said)
}

async function add(store, doc, file, changed) {
  const isKnown = doc.get('_attachments')?.has(file.name)
  if (isKnown && !await confirmed('Replace the attachment?', file.name, 'Replace')) return
  await change('PUT', store, doc, file.name, {body: file, headers: {'Content-Type': file.type || 'application/octet-stream'}},
    `${visible(file.name, 60)} is ${isKnown ? 'replaced' : 'added'}.`, changed)
}

async function remove(store, doc, name, changed) {
  if (await confirmed('Remove the attachment?', name, 'Remove')) await change('DELETE', store, doc, name, {}, `${visible(name, 60)} is removed.`, changed)
}

/** A browser does not say which other user its own requests are for, so the server is asked first whether that one may have the file. */
async function ask(store, address, signal) {
  if (userOf(store)) await send('HEAD', address, {signal})
}

function download(name, address, store, signal) {
  return el('a', {
    href: address, download: name, 'aria-label': `Download ${name}`, onclick: event => {
      if (!userOf(store)) return
      event.preventDefault()
      during(event.target, async () => {
        await ask(store, address, signal)
        el('a', {href: address, download: name}).click()
      })
    },
  }, 'Download')
}

/** A picture, also a drawing with scripts: a browser runs none of an image. */
async function picture({name, address, store, signal}) {
  await ask(store, address, signal)
  return el('img', {src: address, alt: `The attachment ${name}`, class: 'picture'})
}

async function beginning({name, address, length, signal}) {
  const headers = length > longestText ? {Range: `bytes=0-${longestText - 1}`} : {}
  const content = new TextDecoder().decode(await (await send('GET', address, {signal, headers})).arrayBuffer())
  return [
    el('pre', {tabindex: '0', 'aria-label': `The text of ${name}`}, text(content, longestText)),
    length > longestText && el('p', {}, `The first ${bytes(longestText)} of ${bytes(length)}.`),
  ]
}

/** The bytes as PDF, whatever else they may be. */
async function pdf({name, address, length, signal}) {
  if (length > longestPDF) throw new Error('The file is too long to be shown; download it.')
  const content = await (await send('GET', address, {signal})).arrayBuffer()
  const url = URL.createObjectURL(new Blob([content], {type: 'application/pdf'}))
  signal.addEventListener('abort', () => URL.revokeObjectURL(url), {once: true})
  return el('iframe', {src: url, title: `The attachment ${name}`, class: 'pdf'})
}

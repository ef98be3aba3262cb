// The attachments of a revision. What is shown can't run: pictures are images, text is text, and PDF is in a frame of its own.
import {button, bytes, during, el, fill, table, text} from './dom.js'
import {path, send, userOf} from './api.js'

const pictures = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/
const texts = /^(text\/[a-z0-9.+-]+|application\/([a-z0-9.+-]*\+)?(json|xml)|application\/(javascript|yaml))$/
const longestText = 262_144
const longestPDF = 64_000_000

export function showAttachments(store, doc, signal) {
  const attachments = doc.get('_attachments')
  if (!attachments?.size) return null
  const view = el('div', {id: 'attachment', 'aria-live': 'polite'})
  const rows = [...attachments].map(([name, stub]) => {
    // A type is any text.
    const type = String(stub.get('content_type') ?? '').split(';')[0].trim().toLowerCase()
    const address = path(store, doc.get('_id'), name) + `?rev=${encodeURIComponent(doc.get('_rev'))}`
    const show = shower(type, {name, address, length: stub.get('length'), store, signal})
    return [
      text(name, 120), text(type || 'unknown', 80), bytes(stub.get('length') ?? 0),
      el('span', {class: 'row'}, show && button('Show', async () => fill(view, el('h3', {}, text(name, 120)), await show()), {'aria-label': `Show ${name}`}),
        download(name, address, store, signal)),
    ]
  })
  return el('section', {'aria-labelledby': 'attachments'}, el('h2', {id: 'attachments'}, 'Attachments'),
    table('Attachments of this revision', ['Name', 'Type', 'Size#', ''], rows), view)
}

function shower(type, attachment) {
  if (pictures.test(type)) return () => picture(attachment)
  if (type === 'application/pdf') return () => pdf(attachment)
  return texts.test(type) ? () => beginning(attachment) : null
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

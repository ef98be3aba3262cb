// Files that are imported: chosen or dropped, uploaded, and what the server says about them.
import {asked, button, bytes, choice, count, el, fill, labeled, say, text} from './dom.js'
import {get, path, Refusal, send, userHeaders} from './api.js'
import {addressOf, preview, withoutOptions} from './preview.js'
import {link} from './router.js'

/** Takes files that are dropped anywhere on the page, as long as its view is shown. */
export function takeDrops(signal, take) {
  const root = document.documentElement
  const isFile = event => event.dataTransfer?.types.includes('Files') && !document.querySelector('dialog[open]')
  const mark = isOver => root.classList.toggle('dropping', isOver && !root.hasAttribute('data-read-only'))
  document.addEventListener('dragover', event => {
    if (!isFile(event)) return
    event.preventDefault()
    mark(true)
  }, {signal})
  document.addEventListener('dragleave', event => { if (!event.relatedTarget) mark(false) }, {signal})
  document.addEventListener('drop', event => {
    mark(false)
    if (!isFile(event)) return
    // Otherwise the browser would open it.
    event.preventDefault()
    if (root.hasAttribute('data-read-only')) return say('This server is read-only.', true)
    const {files} = event.dataTransfer
    if (files.length === 1) take(files[0])
    else say('Drop one file at a time.', true)
  }, {signal})
  signal.addEventListener('abort', () => mark(false))
}

/** The name of a store for a file: lower case, and only characters that every name may have. */
function proposedName(file) {
  const name = file.toLowerCase().replace(/(\.[a-z0-9]{1,9})?(\.gz)?$/, '').replace(/[^a-z0-9]+/g, '_').replace(/^_+|_+$/g, '').slice(0, 100)
  return /^[a-z]/.test(name) ? name : name ? `store_${name}` : 'imported'
}

/**
 * Asks how to import a file, imports it, and shows how far that is and what the server says.
 *
 * @param store The store that takes it; null to ask for it, which is made if it does not exist.
 * @param names The names that are offered.
 */
export function importFile(file, {store = null, names = [], signal}) {
  const name = el('input', {value: store ?? proposedName(file.name), required: true, autocomplete: 'off', spellcheck: 'false', list: 'store-names'})
  let rule = 'fail'
  const stop = new AbortController()
  signal.addEventListener('abort', () => stop.abort(), {once: true})
  const beginning = preview(file, {target: () => store ?? (names.includes(name.value) ? name.value : null), rule: () => rule, signal: stop.signal})
  name.addEventListener('change', beginning.compare)
  const [bar, state, notices] = [el('progress', {'aria-label': 'Progress', hidden: true}), el('p', {role: 'status'}), el('ul', {class: 'notices'})]
  const title = store ? ['Import ', text(file.name, 80), ' into ', text(store, 80)] : ['Import ', text(file.name, 80)]
  asked(title, 'Import', async () => {
    fill(notices)
    const target = store ?? name.value
    const isNew = !store && await isMade(target)
    bar.hidden = false
    const show = (text, value, total) => {
      state.textContent = text
      bar.max = total || 1
      bar.value = value
    }
    try {
      const end = await upload(target, file, {on_conflict: rule, file: file.name, ...beginning.parameters()}, {
        signal: stop.signal,
        sent: loaded => show(`${bytes(loaded)} of ${bytes(file.size)} sent`, loaded, 2 * file.size),
        progress: report => show(summary(report), file.size + Math.min(report.bytes, file.size), 2 * file.size),
        notice: notice => notices.append(el('li', {}, text(withoutOptions(notice), 1_000))),
      })
      show(summary(end) + '.', 1, 1)
    } catch (error) {
      // As on the command line, a store that it has made does not stay without documents.
      const isEmpty = isNew && (await get(path(target))).doc_count === 0
      if (isEmpty) await send('DELETE', path(target))
      show(error.report && !isEmpty ? summary(error.report) + '.' : '', 0, 1)
      bar.hidden = true
      throw error
    }
    return [el('a', {class: 'button primary', href: link(target, 'documents')}, 'Open ', text(target, 80))]
  }, () => stop.abort(), el('p', {class: 'counts'}, `${bytes(file.size)}. Documents as JSON, tables (.csv, .tsv) and dumps of CouchDB are recognized, also compressed by gzip.`),
  el('datalist', {id: 'store-names'}, names.map(name => el('option', {value: name}))),
  !store && labeled('Store, which is made if it does not exist', name),
  beginning.element,
  choice('Documents that exist', 'rule', ['fail', 'skip', 'replace'], rule, chosen => {
    rule = chosen
    beginning.compare()
  }),
  bar, state, notices)
}

/** Makes a store; returns false if it exists. */
function isMade(store) {
  return send('PUT', path(store)).then(() => true, error => {
    if (error.status === 412) return false
    throw error
  })
}

function summary({imported, replaced, skipped, stale}) {
  return [`${count(imported, 'document')} imported`, replaced && `${replaced.toLocaleString('en')} replaced`,
    skipped && `${skipped.toLocaleString('en')} skipped`, stale && `${stale.toLocaleString('en')} that have changed since were left`].filter(Boolean).join(', ')
}

/** Sends a file; returns the last line of the reply. Only this kind of request tells how much is sent. */
function upload(store, file, parameters, {sent, progress, notice, signal}) {
  const address = addressOf(path(store, '_import'), parameters)
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    let [at, report, last] = [0, null, null]
    const fail = (status, {error, reason}) => reject(Object.assign(new Refusal(status, error, withoutOptions(reason)), {report}))
    const read = () => {
      const end = request.responseText.lastIndexOf('\n') + 1
      for (const line of request.responseText.slice(at, end).split('\n').filter(text => text.startsWith('{'))) {
        const value = JSON.parse(line)
        if (value.notice) notice(value.notice)
        else if (value.progress) progress(report = value.progress)
        else report = last = value
      }
      at = end
    }
    request.open('POST', address)
    for (const [name, value] of Object.entries(userHeaders(address))) request.setRequestHeader(name, value)
    request.setRequestHeader('Content-Type', 'application/octet-stream')
    request.upload.onprogress = event => sent(event.loaded)
    request.onprogress = () => { if (request.status === 200) read() }
    request.onload = () => {
      read()
      if (last?.ok) resolve(last)
      else fail(request.status, last?.error ? last : {error: 'unreachable', reason: request.status === 200 ? 'The server ended the import; is it still running?' : `The server answered ${request.status}.`})
    }
    request.onerror = () => fail(0, {error: 'unreachable', reason: 'The server does not answer, or refuses the file; is it still running?'})
    request.onabort = () => fail(0, {error: 'stopped', reason: 'The import was stopped.'})
    signal.addEventListener('abort', () => request.abort(), {once: true})
    if (signal.aborted) request.onabort()
    else request.send(file)
  })
}

/**
 * Makes a session, follows it, and draws frames as text. A browser cannot send a header with a WebSocket,
 * so it trades its token for a ticket: single use, thirty seconds.
 */
const settings = new URLSearchParams(location.hash.slice(1));
const url = settings.get('url') ?? 'http://127.0.0.1:4747';
const element = (id) => document.getElementById(id);

async function post(path, body) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${settings.get('token')}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const reply = await response.json();
  if (!response.ok) throw new Error(reply.error.message);
  return reply;
}

/** Everything a server sends is drawn as text, never as HTML. */
function draw(text) {
  element('frames').append(`${text}\n`);
}

function drawQuestion(frame, answer) {
  const box = document.createElement('div');
  box.className = 'question';
  box.dataset.request = frame.request_id;
  const words = document.createElement('p');
  words.textContent = `${frame.title}: ${JSON.stringify(frame.input)}`;
  box.append(words);
  for (const behavior of ['allow', 'deny']) {
    const button = document.createElement('button');
    button.textContent = behavior;
    button.addEventListener('click', () => answer(frame.request_id, behavior));
    box.append(button);
  }
  element('questions').append(box);
}

const { session_id } = await post('/sessions', { title: 'From a browser' });
const { ticket } = await post('/tickets', { session_id });
const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/sessions/${session_id}/stream`, [
  'gauntlet.v1',
  `gauntlet.ticket.${ticket}`,
]);
const send = (frame) => socket.send(JSON.stringify(frame));
const answer = (request_id, behavior) => send({ type: 'permission_answer', request_id, behavior });

socket.addEventListener('open', () => send({ type: 'hello', from_seq: 0 }));
socket.addEventListener('close', ({ code, reason }) => draw(`closed ${code} ${reason}`));
socket.addEventListener('message', ({ data }) => {
  const frame = JSON.parse(data);
  switch (frame.type) {
    case 'live':
      return draw('following');
    case 'progress':
      return draw(`  ${frame.data.text ?? frame.data.message ?? frame.data.type}`.trimEnd());
    case 'permission_request':
      return drawQuestion(frame, answer);
    case 'permission_resolved':
      document.querySelector(`[data-request="${frame.request_id}"]`)?.remove();
      return draw(`answered: ${frame.behavior} by ${frame.by}`);
    case 'tool_use':
      return draw(`${frame.display.title}`);
    case 'result':
      return draw(`${frame.call.name}: ${frame.call.status}: ${frame.tool_result.content}`);
  }
});

let calls = 0;
element('run').addEventListener('submit', (event) => {
  event.preventDefault();
  const tool_use = {
    type: 'tool_use',
    id: `browser_${calls++}`,
    name: 'Bash',
    input: { command: element('command').value },
  };
  send({ type: 'tool_use', tool_use });
});

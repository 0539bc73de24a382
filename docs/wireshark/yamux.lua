-- A Wireshark dissector for the frames that captureFrames writes. README.md beside this file says how to use it.
--
-- Credit, offsets and round trips follow from the frames before. They are computed once, in the order of the frames, and kept in `notes`.

local HEADER_BYTES = 12
local INITIAL_WINDOW_BYTES = 262144

local DATA, WINDOW_UPDATE, PING, GO_AWAY = 0, 1, 2, 3
local TYPE_NAMES = { [DATA] = 'DATA', [WINDOW_UPDATE] = 'WINDOW_UPDATE', [PING] = 'PING', [GO_AWAY] = 'GO_AWAY' }

local SYN, ACK, FIN, RST = 1, 2, 4, 8
local FLAG_NAMES = { { SYN, 'SYN' }, { ACK, 'ACK' }, { FIN, 'FIN' }, { RST, 'RST' } }

local GO_AWAY_NAMES = { [0] = 'normal', [1] = 'protocol error', [2] = 'internal error' }

-- The values of marks begin here. In them is a time, in these units, and in the last bit whether the mark replies to one of the peer.
local FIRST_MARK_VALUE = 0x80000000
local MARK_UNITS_PER_MS = 8

-- As in the epb_flags of a packet
local RECEIVED, SENT = 1, 2

local yamux = Proto('yamux', 'Yamux')

local fields = {
  sent = ProtoField.bool('yamux.sent', 'Sent by this node'),
  version = ProtoField.uint8('yamux.version', 'Version'),
  type = ProtoField.uint8('yamux.type', 'Type', base.DEC, TYPE_NAMES),
  flags = ProtoField.uint16('yamux.flags', 'Flags', base.HEX),
  syn = ProtoField.bool('yamux.flags.syn', 'SYN', 16, nil, SYN),
  ack = ProtoField.bool('yamux.flags.ack', 'ACK', 16, nil, ACK),
  fin = ProtoField.bool('yamux.flags.fin', 'FIN', 16, nil, FIN),
  rst = ProtoField.bool('yamux.flags.rst', 'RST', 16, nil, RST),
  stream = ProtoField.uint32('yamux.stream', 'Stream'),
  length = ProtoField.uint32('yamux.length', 'Length'),
  data = ProtoField.bytes('yamux.data', 'Data'),
  delta = ProtoField.uint32('yamux.delta', 'Delta in bytes'),
  error_code = ProtoField.uint32('yamux.error_code', 'Error code'),
  go_away = ProtoField.uint32('yamux.go_away', 'Code', base.DEC, GO_AWAY_NAMES),
  ping = ProtoField.uint32('yamux.ping', 'Value'),
  mark = ProtoField.uint32('yamux.mark', 'Mark'),
  mark_ms = ProtoField.double('yamux.mark.ms', 'Time of the mark in ms'),
  mark_reply = ProtoField.bool('yamux.mark.reply', 'Replies to a mark'),
  offset = ProtoField.uint64('yamux.offset', 'Offset of the first byte'),
  credit = ProtoField.int64('yamux.credit', 'Credit left in bytes'),
  stream_ms = ProtoField.double('yamux.stream_ms', 'Since the first frame of the stream, in ms'),
  request_in = ProtoField.framenum('yamux.request_in', 'Ping in', base.NONE, frametype.REQUEST),
  response_in = ProtoField.framenum('yamux.response_in', 'Pong in', base.NONE, frametype.RESPONSE),
  round_trip_ms = ProtoField.double('yamux.round_trip_ms', 'Round trip in ms')
}
yamux.fields = fields

local experts = {
  unknown_version = ProtoExpert.new('yamux.unknown_version', 'Unknown version', expert.group.PROTOCOL, expert.severity.ERROR),
  unknown_type = ProtoExpert.new('yamux.unknown_type', 'Unknown type', expert.group.PROTOCOL, expert.severity.ERROR),
  beyond_credit = ProtoExpert.new('yamux.beyond_credit', 'DATA beyond the credit', expert.group.PROTOCOL, expert.severity.ERROR),
  after_fin = ProtoExpert.new('yamux.after_fin', 'DATA after FIN', expert.group.PROTOCOL, expert.severity.ERROR),
  no_credit = ProtoExpert.new('yamux.no_credit', 'No credit is left, the sender must wait', expert.group.SEQUENCE, expert.severity.NOTE),
  reset = ProtoExpert.new('yamux.reset', 'The stream was reset', expert.group.SEQUENCE, expert.severity.NOTE),
  go_away_code = ProtoExpert.new('yamux.go_away_code', 'The session ended with an error', expert.group.SEQUENCE, expert.severity.WARN)
}
yamux.experts = experts

local interface_id = Field.new('frame.interface_id')
local interface_name = Field.new('frame.interface_name')
local packet_direction = Field.new('frame.packet_flags_direction')
local section_number = Field.new('frame.section_number')

local connections, notes, last_number

function yamux.init ()
  connections = {}
  notes = {}
  last_number = 0
end

local function has (flags, flag)
  return flags % (2 * flag) >= flag
end

local function opposite (direction)
  return direction == SENT and RECEIVED or SENT
end

local function ms_between (earlier_s, later_s)
  return math.floor((later_s - earlier_s) * 1e6 + 0.5) / 1e3
end

local function connection_of (frame)
  local connection = connections[frame.connection] or { streams = {}, pings = { [SENT] = {}, [RECEIVED] = {} } }
  connections[frame.connection] = connection

  return connection
end

-- Each direction has its own credit and offset. Both are unknown if the stream was open before the capture began.
local function stream_of (connection, frame)
  local stream = connection.streams[frame.stream]

  if has(frame.flags, SYN) then
    stream = {
      first_s = frame.time_s,
      [SENT] = { credit = INITIAL_WINDOW_BYTES, offset = 0 },
      [RECEIVED] = { credit = INITIAL_WINDOW_BYTES, offset = 0 }
    }
  end

  stream = stream or { first_s = frame.time_s, [SENT] = {}, [RECEIVED] = {} }
  connection.streams[frame.stream] = stream

  return stream
end

local function note_data (note, sender, length)
  note.is_after_fin = sender.has_finished and length > 0

  if sender.credit then
    note.offset = length > 0 and sender.offset or nil
    note.credit = sender.credit - length
    note.is_beyond_credit = length > 0 and note.credit < 0
    note.has_used_credit = length > 0 and note.credit == 0
    sender.offset = sender.offset + length
    sender.credit = note.credit
  end
end

local function note_window_update (note, receiver, delta)
  if receiver.credit then
    receiver.credit = receiver.credit + delta
    note.credit = receiver.credit
  end
end

local function note_stream_frame (note, frame)
  local stream = stream_of(connection_of(frame), frame)
  note.stream_ms = ms_between(stream.first_s, frame.time_s)

  if frame.type == DATA then
    note_data(note, stream[frame.direction], frame.length)
  elseif not has(frame.flags, RST) then
    note_window_update(note, stream[opposite(frame.direction)], frame.length)
  end

  if has(frame.flags, FIN) then
    stream[frame.direction].has_finished = true
  end
end

-- Pongs come in the order of their pings, so of two pings with one value the first is answered first
local function note_ping (note, frame)
  local pings = connection_of(frame).pings

  if has(frame.flags, ACK) then
    local ping = table.remove(pings[opposite(frame.direction)][frame.length] or {}, 1)

    if ping then
      note.request_in = ping.number
      note.round_trip_ms = ms_between(ping.time_s, frame.time_s)
      notes[ping.number].response_in = frame.number
    end
  elseif has(frame.flags, SYN) then
    local unanswered = pings[frame.direction]
    unanswered[frame.length] = unanswered[frame.length] or {}
    table.insert(unanswered[frame.length], frame)
  end
end

-- A first pass without fields, as of tshark -2 without a filter, leaves all notes to the second
local function note_of (frame)
  if notes[frame.number] == nil and frame.direction and frame.number > last_number then
    local note = {}
    notes[frame.number] = note
    last_number = frame.number

    if frame.version == 0 and (frame.type == DATA or frame.type == WINDOW_UPDATE) then
      note_stream_frame(note, frame)
    elseif frame.version == 0 and frame.type == PING then
      note_ping(note, frame)
    end
  end

  return notes[frame.number] or {}
end

local function read_frame (tvb, pinfo)
  local interface, direction, section = interface_id(), packet_direction(), section_number()
  local name = interface_name()

  return {
    number = pinfo.number,
    time_s = pinfo.abs_ts,
    -- each section of a file counts its interfaces from 0
    connection = string.format('%s/%s', section and section.value, interface and interface.value),
    direction = direction and (direction.value == SENT or direction.value == RECEIVED) and direction.value or nil,
    peer = name and name.value or 'peer',
    version = tvb(0, 1):uint(),
    type = tvb(1, 1):uint(),
    flags = tvb(2, 2):uint(),
    stream = tvb(4, 4):uint(),
    length = tvb(8, 4):uint()
  }
end

-- As a line of the muxer's trace: `DATA 5 ACK 100 bytes`, `WINDOW_UPDATE 5 RST code 7`, `PING SYN mark 3`
local function describe (frame)
  local names = ''

  for _, flag in ipairs(FLAG_NAMES) do
    names = names .. (has(frame.flags, flag[1]) and flag[2] .. ' ' or '')
  end

  if frame.version ~= 0 then
    return string.format('VERSION_%d', frame.version)
  elseif frame.type == DATA then
    return string.format('DATA %d %s%d bytes', frame.stream, names, frame.length)
  elseif frame.type == WINDOW_UPDATE then
    return string.format('WINDOW_UPDATE %d %s%s%d', frame.stream, names, has(frame.flags, RST) and 'code ' or '+', frame.length)
  elseif frame.type == PING and frame.length < FIRST_MARK_VALUE then
    return string.format('PING %s%d', names, frame.length)
  elseif frame.type == PING then
    return string.format('PING %smark %d', names, frame.length - FIRST_MARK_VALUE)
  elseif frame.type == GO_AWAY then
    return string.format('GO_AWAY code %d', frame.length)
  else
    return string.format('TYPE_%d %d %s%d', frame.type, frame.stream, names, frame.length)
  end
end

local function show_header (item, tvb)
  item:add(fields.version, tvb(0, 1))
  item:add(fields.type, tvb(1, 1))
  local flags = item:add(fields.flags, tvb(2, 2))

  for _, field in ipairs({ fields.syn, fields.ack, fields.fin, fields.rst }) do
    flags:add(field, tvb(2, 2))
  end

  item:add(fields.stream, tvb(4, 4))
  item:add(fields.length, tvb(8, 4))
end

local function show_payload (item, tvb, length)
  local captured = tvb:len() - HEADER_BYTES

  if captured > 0 then
    item:add(fields.data, tvb(HEADER_BYTES))
  end

  if captured < length then
    item:append_text(string.format(' (%d captured)', captured))
  end
end

local function show_ping (item, tvb, value)
  item:add(fields.ping, tvb(8, 4))

  if value >= FIRST_MARK_VALUE then
    local mark = value - FIRST_MARK_VALUE
    item:add(fields.mark, tvb(8, 4), mark)
    item:add(fields.mark_ms, tvb(8, 4), (mark - mark % 2) / MARK_UNITS_PER_MS)
    item:add(fields.mark_reply, tvb(8, 4), mark % 2 == 1)
  end
end

-- What the length stands for, by type
local function show_content (item, tvb, frame)
  if frame.type == DATA then
    show_payload(item, tvb, frame.length)
  elseif frame.type == WINDOW_UPDATE then
    item:add(has(frame.flags, RST) and fields.error_code or fields.delta, tvb(8, 4))
  elseif frame.type == PING then
    show_ping(item, tvb, frame.length)
  elseif frame.type == GO_AWAY then
    item:add(fields.go_away, tvb(8, 4))
  else
    item:add_proto_expert_info(experts.unknown_type)
  end
end

local function show_note (item, note)
  local function show (field, value)
    if value then
      item:add(field, value):set_generated()
    end
  end

  -- fields of 64 bits take no number of Lua
  show(fields.offset, note.offset and UInt64.new(note.offset))
  show(fields.credit, note.credit and Int64.new(note.credit))
  show(fields.stream_ms, note.stream_ms)
  show(fields.request_in, note.request_in)
  show(fields.response_in, note.response_in)
  show(fields.round_trip_ms, note.round_trip_ms)

  if note.is_after_fin then
    item:add_proto_expert_info(experts.after_fin)
  end

  if note.is_beyond_credit then
    item:add_proto_expert_info(experts.beyond_credit)
  end

  if note.has_used_credit then
    item:add_proto_expert_info(experts.no_credit)
  end
end

local function show_ends (item, frame)
  if has(frame.flags, RST) and (frame.type == DATA or frame.type == WINDOW_UPDATE) then
    item:add_proto_expert_info(experts.reset)
  end

  if frame.type == GO_AWAY and frame.length ~= 0 then
    item:add_proto_expert_info(experts.go_away_code)
  end
end

function yamux.dissector (tvb, pinfo, tree)
  if tvb:len() < HEADER_BYTES then
    return 0
  end

  local frame = read_frame(tvb, pinfo)
  local note = note_of(frame)
  local text = describe(frame)
  pinfo.cols.protocol = 'yamux'

  if frame.direction then
    text = (frame.direction == SENT and '-> ' or '<- ') .. text
    pinfo.cols.src = frame.direction == SENT and 'this node' or frame.peer
    pinfo.cols.dst = frame.direction == SENT and frame.peer or 'this node'
  end

  pinfo.cols.info = text
  local item = tree:add(yamux, tvb(), 'Yamux: ' .. text)

  if frame.direction then
    item:add(fields.sent, frame.direction == SENT):set_generated()
  end

  show_header(item, tvb)

  if frame.version == 0 then
    show_content(item, tvb, frame)
    show_note(item, note)
    show_ends(item, frame)
  else
    item:add_proto_expert_info(experts.unknown_version)
  end

  return tvb:len()
end

DissectorTable.get('wtap_encap'):add(wtap.USER0, yamux)

//! What the keys do and what the words mean, on the screen.

use ratatui::text::Line;

const TEXT: &str = "
 1 2 3, tab        exports, clients, connections
 up down pgup pgdn choose a row; its details are below the table
 enter             from a client to its connections
 s S, right left   sort by the next column, or the one before
 r                 the other way round
 /                 only rows that hold some letters; esc: all of them
 p, space          hold what is shown
 ctrl-l            redraw       ctrl-z  stop for now       q, ctrl-c  end

 IN OUT   bytes of calls and of replies: writes and reads, for the most part
 WAIT     calls received and not answered
 MEAN P99 from a call being complete here to its reply being handed to the socket
 STOR     the part of that time within the file system
 RTT      the round trip to the client; of a client the longest of its connections
 BUFFER   bytes in the server's socket buffers; SNDBUF RCVBUF  what they may hold
 WINDOW   what the client may send before it must wait for us
 FLIGHT   sent and not acknowledged; CWND  the most of that; AGAIN  part sent again
 LIMITED  what keeps it from being faster (the manual has the words);
          idle: it asks for no more, path-full: the network carries what it can

 any key goes back";

/// Its lines.
pub fn lines() -> Vec<Line<'static>> {
    TEXT.lines().map(Line::from).collect()
}

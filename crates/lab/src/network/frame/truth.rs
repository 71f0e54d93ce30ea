//! For tests: what a super-packet is, and the segments that it stands for, each built by itself from what is sent. Nothing
//! of what cuts packets is used here.

use bytes::BytesMut;

use super::checksum::{pseudo_header, sum};
use super::frame::Frame;
use super::offload::{self, Segmentation};

/// What is sent.
#[derive(Debug, Clone)]
pub struct Sent {
    pub v6: bool,
    pub udp: bool,
    /// Bytes of payload in a segment.
    pub size: usize,
    pub payload: Vec<u8>,
    /// TCP's flags of the whole: each segment has those that belong to it.
    pub flags: u8,
    pub sequence: u32,
    pub identification: u16,
    /// Words of options of TCP.
    pub options: usize,
    /// With a header of IPv6 between (hop-by-hop options, of padding).
    pub extension: bool,
}

const FIN_AND_PSH: u8 = 0x09;
const CWR: u8 = 0x80;

impl Sent {
    /// As the kernel gives it: checksums unmade.
    pub fn frame(&self) -> Frame {
        let whole = self.packet(0, &self.payload, self.flags, false);
        let segmentation = match (self.payload.len() > self.size, self.udp) {
            (false, _) => Segmentation::None,
            (true, false) => Segmentation::Tcp,
            (true, true) => Segmentation::Udp,
        };
        let size = if segmentation == Segmentation::None { 0 } else { self.size };
        let offset = if self.udp { 6 } else { 16 };
        let mut header = offload::header(segmentation, self.v6, size, self.transport(), offset);
        // As of a packet that it forwards, all in one piece.
        offload::set_headers(&mut header, whole.len());
        Frame::new(BytesMut::from(&[&header[..], &whole].concat()[..]))
    }

    /// Every segment as it would be on the wire.
    pub fn segments(&self) -> Vec<Vec<u8>> {
        let chunks: Vec<&[u8]> = self.payload.chunks(self.size).collect();
        let segment = |(index, chunk): (usize, &&[u8])| {
            let mut flags = self.flags;
            if index > 0 {
                flags &= !CWR;
            }
            if index + 1 < chunks.len() {
                flags &= !FIN_AND_PSH;
            }
            self.packet(index, chunk, flags, true)
        };
        chunks.iter().enumerate().map(segment).collect()
    }

    /// Where the transport's header begins.
    fn transport(&self) -> usize {
        if self.v6 { 40 + 8 * usize::from(self.extension) } else { 20 }
    }

    fn protocol(&self) -> u8 {
        if self.udp { 17 } else { 6 }
    }

    fn packet(&self, index: usize, payload: &[u8], flags: u8, complete: bool) -> Vec<u8> {
        let mut transport = self.transport_header(index, payload.len(), flags);
        let field = if self.udp { 6 } else { 16 };
        transport.extend_from_slice(payload);
        let pseudo = pseudo_header(&self.addresses(), transport.len(), self.protocol());
        let checksum = match (complete, !sum(&transport, pseudo)) {
            (false, _) => pseudo,
            (true, 0) if self.udp => 0xffff,
            (true, checksum) => checksum,
        };
        transport[field..field + 2].copy_from_slice(&checksum.to_be_bytes());
        let mut packet = self.ip_header(index, transport.len());
        packet.extend_from_slice(&transport);
        packet
    }

    fn transport_header(&self, index: usize, payload: usize, flags: u8) -> Vec<u8> {
        let mut header = [[3, 33], 2049u16.to_be_bytes()].concat();
        if self.udp {
            header.extend_from_slice(&(payload as u16 + 8).to_be_bytes());
            header.extend_from_slice(&[0, 0]);
            return header;
        }
        let sequence = self.sequence.wrapping_add((index * self.size) as u32);
        header.extend_from_slice(&sequence.to_be_bytes());
        header.extend_from_slice(&77u32.to_be_bytes());
        header.extend_from_slice(&[((5 + self.options) << 4) as u8, flags, 1, 2, 0, 0, 0, 0]);
        header.resize(header.len() + self.options * 4, 1);
        header
    }

    fn addresses(&self) -> Vec<u8> {
        if self.v6 { (0xb0..0xd0).collect() } else { vec![10, 77, 0, 2, 10, 77, 0, 1] }
    }

    fn ip_header(&self, index: usize, length: usize) -> Vec<u8> {
        if self.v6 {
            let extension = 8 * u16::from(self.extension);
            let mut header = vec![0x60, 0, 0, 0];
            header.extend_from_slice(&(length as u16 + extension).to_be_bytes());
            header.extend_from_slice(&[if self.extension { 0 } else { self.protocol() }, 64]);
            header.extend_from_slice(&self.addresses());
            if self.extension {
                header.extend_from_slice(&[self.protocol(), 0, 1, 4, 0, 0, 0, 0]);
            }
            return header;
        }
        let mut header = vec![0x45, 0];
        header.extend_from_slice(&(length as u16 + 20).to_be_bytes());
        header.extend_from_slice(&self.identification.wrapping_add(index as u16).to_be_bytes());
        header.extend_from_slice(&[0x40, 0, 64, self.protocol(), 0, 0]);
        header.extend_from_slice(&self.addresses());
        let checksum = !sum(&header, 0);
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        header
    }
}

//! MIT's `libgssapi_krb5`, loaded at run time: the calls that establish contexts (RFC 2744) and export them. The only file here
//! with unsafe code. What is returned is copied at once, and released.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::slice;
use std::time::Duration;

use howdah_gss::{ContextSide, LucidContext, LucidError, MECHANISM, SessionKey};

use crate::error::GssFailure;

/// The file that the dynamic loader looks for.
const FILE: &CStr = c"libgssapi_krb5.so.2";

/// `GSS_C_NT_HOSTBASED_SERVICE`: `nfs@host`.
const HOST_SERVICE: [u8; 10] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x01, 0x04];
/// `GSS_KRB5_NT_PRINCIPAL_NAME`: `nfs/host@REALM`.
const PRINCIPAL: [u8; 10] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02, 0x01];

/// `GSS_C_ACCEPT`.
const FOR_ACCEPTING: c_int = 2;
/// `GSS_C_MUTUAL_FLAG`. The server proves itself, and chooses the key. What RPCSEC_GSS does by itself is not asked for.
const MUTUAL: u32 = 2;
/// `GSS_S_CONTINUE_NEEDED`.
const CONTINUE: u32 = 1;
/// Errors of a major status; the rest is information.
const ERRORS: u32 = 0xffff_0000;
/// `GSS_S_FAILURE`.
const FAILURE: u32 = 13 << 16;
/// `GSS_C_GSS_CODE` and `GSS_C_MECH_CODE`.
const CODES: (c_int, c_int) = (1, 2);
/// The version of exported contexts.
const LUCID_VERSION: u32 = 1;
/// The protocol of RFC 4121 in an exported context; 0 is that of RFC 1964.
const CFX: u32 = 1;
/// Sentences of one status that are read at most.
const SENTENCES_MAX: usize = 8;

/// `gss_buffer_desc`.
#[repr(C)]
struct Buffer {
    length: usize,
    value: *mut c_void,
}

/// `gss_OID_desc`.
#[repr(C)]
struct Identifier {
    length: u32,
    elements: *mut c_void,
}

/// `gss_OID_set_desc`.
#[repr(C)]
struct Identifiers {
    count: usize,
    elements: *mut Identifier,
}

/// `gss_krb5_lucid_key_t`.
#[repr(C)]
struct Key {
    kind: u32,
    length: u32,
    data: *const u8,
}

/// `gss_krb5_lucid_context_v1_t`, with the two of `gss_krb5_rfc1964_keydata_t` and `gss_krb5_cfx_keydata_t`.
#[repr(C)]
struct Exported {
    version: u32,
    initiate: u32,
    end_time: u32,
    send_sequence: u64,
    receive_sequence: u64,
    protocol: u32,
    old: OldKeys,
    cfx: CfxKeys,
}

#[repr(C)]
struct OldKeys {
    sign_algorithm: u32,
    seal_algorithm: u32,
    key: Key,
}

#[repr(C)]
struct CfxKeys {
    have_acceptor_subkey: u32,
    context_key: Key,
    acceptor_subkey: Key,
}

type Handle = *mut c_void;

/// The functions, each with its signature; the macro loads all or none.
macro_rules! functions {
    ($($name:ident($($argument:ty),*);)+) => {
        #[derive(Clone, Copy)]
        #[allow(clippy::struct_field_names, reason = "fields have the functions' names")]
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) -> u32,)+
        }

        impl Functions {
            /// # Safety
            /// `library` is a handle of the library whose functions have these signatures.
            unsafe fn find(library: Handle) -> Result<Self, String> {
                Ok(Self {
                    // SAFETY: the caller's promise.
                    $($name: unsafe { symbol(library, concat!(stringify!($name), "\0"))? },)+
                })
            }
        }
    };
}

functions! {
    gss_accept_sec_context(
        *mut u32, *mut Handle, Handle, *mut Buffer, Handle, *mut Handle, *mut *mut Identifier, *mut Buffer, *mut u32, *mut u32,
        *mut Handle
    );
    gss_acquire_cred(*mut u32, Handle, u32, *mut Identifiers, c_int, *mut Handle, *mut *mut Identifiers, *mut u32);
    gss_delete_sec_context(*mut u32, *mut Handle, *mut Buffer);
    gss_display_name(*mut u32, Handle, *mut Buffer, *mut *mut Identifier);
    gss_display_status(*mut u32, u32, c_int, *mut Identifier, *mut u32, *mut Buffer);
    gss_import_name(*mut u32, *mut Buffer, *mut Identifier, *mut Handle);
    gss_init_sec_context(
        *mut u32, Handle, *mut Handle, Handle, *mut Identifier, u32, u32, Handle, *mut Buffer, *mut *mut Identifier, *mut Buffer,
        *mut u32, *mut u32
    );
    gss_inquire_context(
        *mut u32, Handle, *mut Handle, *mut Handle, *mut u32, *mut *mut Identifier, *mut u32, *mut c_int, *mut c_int
    );
    gss_release_buffer(*mut u32, *mut Buffer);
    gss_release_cred(*mut u32, *mut Handle);
    gss_release_name(*mut u32, *mut Handle);
    gss_krb5_export_lucid_sec_context(*mut u32, *mut Handle, u32, *mut Handle);
    gss_krb5_free_lucid_sec_context(*mut u32, Handle);
}

/// The library. It stays loaded for as long as the process lives.
pub(crate) struct Library {
    functions: Functions,
    #[cfg(test)]
    handle: Handle,
}

/// Keys that tokens are accepted with.
pub(crate) struct Credential<'l> {
    library: &'l Library,
    handle: Handle,
}

/// A context of the library, begun or established.
pub(crate) struct SecurityContext<'l> {
    library: &'l Library,
    handle: Handle,
    /// The peer that it was begun with, if it was begun here.
    target: Option<Name<'l>>,
}

struct Name<'l> {
    library: &'l Library,
    handle: Handle,
}

/// What the library returned in memory of its own.
struct Returned<'l> {
    library: &'l Library,
    buffer: Buffer,
}

/// A buffer that the library only reads.
struct Given<'b> {
    buffer: Buffer,
    bytes: PhantomData<&'b [u8]>,
}

/// # Safety
/// `F` is the signature of this function of the library.
unsafe fn symbol<F: Copy>(library: Handle, name: &str) -> Result<F, String> {
    const { assert!(size_of::<F>() == size_of::<Handle>()) };
    let name = CStr::from_bytes_with_nul(name.as_bytes()).expect("a name that ends with zero");
    // SAFETY: a handle of the loader, and a text that ends with zero.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    if found.is_null() {
        return Err(format!("{} has no {}", FILE.to_string_lossy(), name.to_string_lossy()));
    }
    // SAFETY: a pointer to a function is as large as any, and the caller vouches for its signature.
    Ok(unsafe { std::mem::transmute_copy(&found) })
}

/// Ends this process if it works for longer than that; `None`: it may.
pub(crate) fn limit_time(time: Option<Duration>) {
    let seconds = time.map_or(0, |time| time.as_secs().max(1) as u32);
    // SAFETY: sets a timer, whose signal ends the process.
    unsafe { libc::alarm(seconds) };
}

fn identifier(bytes: &'static [u8]) -> Identifier {
    Identifier { length: bytes.len() as u32, elements: bytes.as_ptr().cast_mut().cast() }
}

impl<'b> Given<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        let buffer = Buffer { length: bytes.len(), value: bytes.as_ptr().cast_mut().cast() };
        Self { buffer, bytes: PhantomData }
    }
}

impl Library {
    /// Loads it.
    ///
    /// # Errors
    /// What the loader says: most often that there is no such file.
    pub(crate) fn load() -> Result<Self, String> {
        // SAFETY: the library's constructors expect nothing of this process.
        let handle = unsafe { libc::dlopen(FILE.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            // SAFETY: no other thread loads libraries; the text is copied before the next call.
            let why = unsafe { libc::dlerror() };
            if why.is_null() {
                return Err(format!("cannot open {}", FILE.to_string_lossy()));
            }
            // SAFETY: a text that ends with zero.
            return Err(unsafe { CStr::from_ptr(why) }.to_string_lossy().into_owned());
        }
        // SAFETY: these are the signatures of RFC 2744 and gssapi_krb5.h, which this version of the library keeps.
        let functions = unsafe { Functions::find(handle)? };
        Ok(Self {
            functions,
            #[cfg(test)]
            handle,
        })
    }

    /// The keys of this service on any host, in the keytab.
    pub(crate) fn acceptor(&self, service: &str) -> Result<Credential<'_>, GssFailure> {
        let name = self.name(service, &HOST_SERVICE)?;
        let mut mechanism = identifier(&MECHANISM);
        let mut mechanisms = Identifiers { count: 1, elements: &raw mut mechanism };
        let (mut minor, mut handle) = (0, ptr::null_mut());
        // SAFETY: all that is pointed to lives until the call returns; null is allowed where it is given.
        let major = unsafe {
            (self.functions.gss_acquire_cred)(
                &mut minor,
                name.handle,
                0,
                &mut mechanisms,
                FOR_ACCEPTING,
                &mut handle,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        self.check(major, minor)?;
        Ok(Credential { library: self, handle })
    }

    /// The context of a client's first token, and the token for it.
    pub(crate) fn accept(
        &self,
        credential: &Credential<'_>,
        token: &[u8],
    ) -> Result<(SecurityContext<'_>, Vec<u8>), GssFailure> {
        let mut context = SecurityContext { library: self, handle: ptr::null_mut(), target: None };
        let mut input = Given::new(token);
        let mut output = self.returned();
        let mut minor = 0;
        // SAFETY: as above. The delegated credential is not asked for.
        let major = unsafe {
            (self.functions.gss_accept_sec_context)(
                &mut minor,
                &mut context.handle,
                credential.handle,
                &mut input.buffer,
                ptr::null_mut(),
                ptr::null_mut(),
                ptr::null_mut(),
                &mut output.buffer,
                ptr::null_mut(),
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        self.check(major, minor)?;
        complete(major)?;
        Ok((context, output.bytes().to_vec()))
    }

    /// A context with this service, and the first token for it.
    pub(crate) fn initiate(&self, target: &str) -> Result<(SecurityContext<'_>, Vec<u8>), GssFailure> {
        let kind = if target.contains('/') { &PRINCIPAL } else { &HOST_SERVICE };
        let target = self.name(target, kind)?;
        let mut context = SecurityContext { library: self, handle: ptr::null_mut(), target: Some(target) };
        let (_, token) = context.step(None)?;
        Ok((context, token))
    }

    fn name(&self, text: &str, kind: &'static [u8]) -> Result<Name<'_>, GssFailure> {
        let (mut text, mut kind) = (Given::new(text.as_bytes()), identifier(kind));
        let (mut minor, mut handle) = (0, ptr::null_mut());
        // SAFETY: as above.
        let major =
            unsafe { (self.functions.gss_import_name)(&mut minor, &mut text.buffer, &mut kind, &mut handle) };
        self.check(major, minor)?;
        Ok(Name { library: self, handle })
    }

    fn returned(&self) -> Returned<'_> {
        Returned { library: self, buffer: Buffer { length: 0, value: ptr::null_mut() } }
    }

    fn check(&self, major: u32, minor: u32) -> Result<(), GssFailure> {
        if major & ERRORS == 0 {
            return Ok(());
        }
        let mut sentences = self.sentences(major, CODES.0);
        if minor != 0 {
            sentences.extend(self.sentences(minor, CODES.1));
        }
        Err(GssFailure { major, minor, text: sentences.join(": ") })
    }

    /// What a status means.
    fn sentences(&self, status: u32, code: c_int) -> Vec<String> {
        let mut mechanism = identifier(&MECHANISM);
        let (mut minor, mut more) = (0, 0);
        let mut found = Vec::new();
        while found.len() < SENTENCES_MAX {
            let mut text = self.returned();
            // SAFETY: as above.
            let major = unsafe {
                (self.functions.gss_display_status)(
                    &mut minor,
                    status,
                    code,
                    &mut mechanism,
                    &mut more,
                    &mut text.buffer,
                )
            };
            if major & ERRORS != 0 {
                break;
            }
            let text = String::from_utf8_lossy(text.bytes()).trim().to_owned();
            found.extend((!text.is_empty()).then_some(text));
            if more == 0 {
                break;
            }
        }
        found
    }
}

impl<'l> SecurityContext<'l> {
    /// This context, with the service's answer, and what is left to be sent.
    pub(crate) fn finish(mut self, token: &[u8]) -> Result<(Self, Vec<u8>), GssFailure> {
        let (major, token) = self.step(Some(token))?;
        complete(major)?;
        Ok((self, token))
    }

    fn step(&mut self, token: Option<&[u8]>) -> Result<(u32, Vec<u8>), GssFailure> {
        let mut mechanism = identifier(&MECHANISM);
        let mut input = Given::new(token.unwrap_or_default());
        let mut output = self.library.returned();
        let target = self.target.as_ref().map_or(ptr::null_mut(), |target| target.handle);
        let mut minor = 0;
        // SAFETY: as above. No credential: the default one of the environment.
        let major = unsafe {
            (self.library.functions.gss_init_sec_context)(
                &mut minor,
                ptr::null_mut(),
                &mut self.handle,
                target,
                &mut mechanism,
                MUTUAL,
                0,
                ptr::null_mut(),
                if token.is_some() { &mut input.buffer } else { ptr::null_mut() },
                ptr::null_mut(),
                &mut output.buffer,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        self.library.check(major, minor)?;
        Ok((major, output.bytes().to_vec()))
    }

    /// The peer's principal and the own one.
    pub(crate) fn names(&self) -> Result<(String, String), GssFailure> {
        let library = self.library;
        let mut initiator = Name { library, handle: ptr::null_mut() };
        let mut acceptor = Name { library, handle: ptr::null_mut() };
        let (mut minor, mut is_ours) = (0, 0);
        // SAFETY: as above.
        let major = unsafe {
            (library.functions.gss_inquire_context)(
                &mut minor,
                self.handle,
                &mut initiator.handle,
                &mut acceptor.handle,
                ptr::null_mut(),
                ptr::null_mut(),
                ptr::null_mut(),
                &mut is_ours,
                ptr::null_mut(),
            )
        };
        library.check(major, minor)?;
        let (initiator, acceptor) = (initiator.text()?, acceptor.text()?);
        Ok(if is_ours == 0 { (initiator, acceptor) } else { (acceptor, initiator) })
    }

    /// Its keys; or why they are of no use here. The library's own context is gone afterwards.
    pub(crate) fn export(mut self) -> Result<Result<LucidContext, LucidError>, GssFailure> {
        let functions = self.library.functions;
        let (mut minor, mut exported) = (0, ptr::null_mut());
        // SAFETY: as above; what is exported is released below.
        let major = unsafe {
            (functions.gss_krb5_export_lucid_sec_context)(
                &mut minor,
                &mut self.handle,
                LUCID_VERSION,
                &mut exported,
            )
        };
        self.library.check(major, minor)?;
        // SAFETY: version 1 has this layout, and lives until it is released.
        let lucid = unsafe { read_exported(&*exported.cast::<Exported>()) };
        // SAFETY: once, and not read afterwards. The library wipes the keys.
        unsafe { (functions.gss_krb5_free_lucid_sec_context)(&mut minor, exported) };
        Ok(lucid)
    }
}

/// # Safety
/// Keys point to as many bytes as they say.
unsafe fn read_exported(exported: &Exported) -> Result<LucidContext, LucidError> {
    let has_subkey = exported.cfx.have_acceptor_subkey != 0;
    let key = match exported.protocol {
        CFX if has_subkey => &exported.cfx.acceptor_subkey,
        CFX => &exported.cfx.context_key,
        // DES, DES3 or RC4.
        _ => return Err(LucidError::Enctype(exported.old.key.kind)),
    };
    let bytes = if key.data.is_null() {
        &[]
    } else {
        // SAFETY: the caller's promise.
        unsafe { slice::from_raw_parts(key.data, key.length as usize) }
    };
    Ok(LucidContext {
        side: if exported.initiate != 0 { ContextSide::Initiator } else { ContextSide::Acceptor },
        key: SessionKey::new(key.kind, bytes)?,
        acceptor_subkey: has_subkey,
        send_sequence: exported.send_sequence,
        expiry: exported.end_time.into(),
    })
}

/// Kerberos needs no more tokens than these, unless a client asks for what RPCSEC_GSS has no use for.
fn complete(major: u32) -> Result<(), GssFailure> {
    if major & CONTINUE == 0 {
        return Ok(());
    }
    Err(GssFailure { major: FAILURE, minor: 0, text: "the peer asks for one more token".to_owned() })
}

impl Name<'_> {
    fn text(&self) -> Result<String, GssFailure> {
        let mut text = self.library.returned();
        let mut minor = 0;
        // SAFETY: as above.
        let major = unsafe {
            (self.library.functions.gss_display_name)(
                &mut minor,
                self.handle,
                &mut text.buffer,
                ptr::null_mut(),
            )
        };
        self.library.check(major, minor)?;
        Ok(String::from_utf8_lossy(text.bytes()).into_owned())
    }
}

impl Returned<'_> {
    fn bytes(&self) -> &[u8] {
        if self.buffer.value.is_null() {
            return &[];
        }
        // SAFETY: the library returned so many bytes, and keeps them until they are released.
        unsafe { slice::from_raw_parts(self.buffer.value.cast(), self.buffer.length) }
    }
}

impl Drop for Returned<'_> {
    fn drop(&mut self) {
        // SAFETY: what the library returned, once.
        unsafe { (self.library.functions.gss_release_buffer)(&mut 0, &mut self.buffer) };
    }
}

impl Drop for Name<'_> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: a name of this library, once.
            unsafe { (self.library.functions.gss_release_name)(&mut 0, &mut self.handle) };
        }
    }
}

impl Drop for Credential<'_> {
    fn drop(&mut self) {
        // SAFETY: a credential of this library, once.
        unsafe { (self.library.functions.gss_release_cred)(&mut 0, &mut self.handle) };
    }
}

impl Drop for SecurityContext<'_> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: a context of this library, once, and no token about its end.
            unsafe {
                (self.library.functions.gss_delete_sec_context)(&mut 0, &mut self.handle, ptr::null_mut())
            };
        }
    }
}

/// The library's own tokens, as the other side of ours.
#[cfg(test)]
impl SecurityContext<'_> {
    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        type Sign = unsafe extern "C" fn(*mut u32, Handle, u32, *mut Buffer, *mut Buffer) -> u32;
        // SAFETY: the signature of RFC 2744 5.15.
        let call: Sign = unsafe { symbol(self.library.handle, "gss_get_mic\0") }.expect("a function");
        let (mut input, mut output, mut minor) = (Given::new(message), self.library.returned(), 0);
        // SAFETY: as above.
        let major = unsafe { call(&mut minor, self.handle, 0, &mut input.buffer, &mut output.buffer) };
        self.library.check(major, minor).expect("a MIC");
        output.bytes().to_vec()
    }

    pub(crate) fn verify(&self, message: &[u8], token: &[u8]) -> Result<(), GssFailure> {
        type Verify = unsafe extern "C" fn(*mut u32, Handle, *mut Buffer, *mut Buffer, *mut u32) -> u32;
        // SAFETY: the signature of RFC 2744 5.32.
        let call: Verify = unsafe { symbol(self.library.handle, "gss_verify_mic\0") }.expect("a function");
        let (mut input, mut mic, mut minor) = (Given::new(message), Given::new(token), 0);
        // SAFETY: as above.
        let major =
            unsafe { call(&mut minor, self.handle, &mut input.buffer, &mut mic.buffer, ptr::null_mut()) };
        self.library.check(major, minor)
    }

    pub(crate) fn wrap(&self, message: &[u8]) -> Vec<u8> {
        type Wrap =
            unsafe extern "C" fn(*mut u32, Handle, c_int, u32, *mut Buffer, *mut c_int, *mut Buffer) -> u32;
        // SAFETY: the signature of RFC 2744 5.33.
        let call: Wrap = unsafe { symbol(self.library.handle, "gss_wrap\0") }.expect("a function");
        let (mut input, mut output) = (Given::new(message), self.library.returned());
        let (mut minor, mut is_sealed) = (0, 0);
        // SAFETY: as above.
        let major = unsafe {
            call(&mut minor, self.handle, 1, 0, &mut input.buffer, &mut is_sealed, &mut output.buffer)
        };
        self.library.check(major, minor).expect("a Wrap token");
        assert_eq!(is_sealed, 1);
        output.bytes().to_vec()
    }

    pub(crate) fn unwrap(&self, token: &[u8]) -> Result<Vec<u8>, GssFailure> {
        type Unwrap =
            unsafe extern "C" fn(*mut u32, Handle, *mut Buffer, *mut Buffer, *mut c_int, *mut u32) -> u32;
        // SAFETY: the signature of RFC 2744 5.31.
        let call: Unwrap = unsafe { symbol(self.library.handle, "gss_unwrap\0") }.expect("a function");
        let (mut input, mut output, mut minor) = (Given::new(token), self.library.returned(), 0);
        // SAFETY: as above.
        let major = unsafe {
            call(
                &mut minor,
                self.handle,
                &mut input.buffer,
                &mut output.buffer,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        self.library.check(major, minor)?;
        Ok(output.bytes().to_vec())
    }
}

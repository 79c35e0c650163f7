//! What a person thinks of an agent's changes, fact by fact.

use offshoot_protocol::{InputId, Mark, ReviewFact, ReviewView};

pub(super) fn apply(review: &mut ReviewView, fact: &ReviewFact) {
    match fact {
        ReviewFact::Marked { hashes, mark, on } => {
            let marked = match mark {
                Mark::Accepted => &mut review.accepted,
                Mark::Viewed => &mut review.viewed,
            };
            marked.retain(|hash| !hashes.contains(hash));
            if *on {
                marked.extend_from_slice(hashes);
            }
        }
        ReviewFact::Rejected { rejection } => {
            review.accepted.retain(|hash| *hash != rejection.hash);
            // Turned down once more after it had been refused, say.
            review.rejections.retain(|other| other.hash != rejection.hash);
            review.rejections.push(rejection.clone());
        }
        ReviewFact::RejectionChanged { merge, state } => {
            if let Some(rejection) = review.rejections.iter_mut().find(|rejection| rejection.merge == *merge) {
                rejection.state = state.clone();
            }
        }
        ReviewFact::RejectionWithdrawn { merge } => review.rejections.retain(|rejection| rejection.merge != *merge),
        ReviewFact::Commented { comment } => review.comments.push(comment.clone()),
        ReviewFact::CommentEdited { comment, text } if text.is_empty() => {
            review.comments.retain(|other| other.id != *comment);
        }
        ReviewFact::CommentEdited { comment, text } => {
            if let Some(comment) = review.comments.iter_mut().find(|other| other.id == *comment) {
                comment.text.clone_from(text);
            }
        }
        ReviewFact::CommentsSent { comments, input } => {
            for comment in review.comments.iter_mut().filter(|comment| comments.contains(&comment.id)) {
                comment.sent = Some(input.clone());
            }
        }
    }
}

/// The message that carried comments was taken back unread: they can be sent again.
pub(super) fn unsend(review: &mut ReviewView, input: &InputId) {
    for comment in review.comments.iter_mut().filter(|comment| comment.sent.as_ref() == Some(input)) {
        comment.sent = None;
    }
}
